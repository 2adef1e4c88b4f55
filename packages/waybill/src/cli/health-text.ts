import type { Finding, HealthReport, JobHealth } from '@waybill/core';
import { span } from './spans.ts';
import { type Pair, pairs, type Screen } from './table.ts';
import { oneLine, wrapped } from './text-width.ts';

const WORDS = { healthy: 'ok', warning: 'warn', critical: 'fail', overtime: 'fail' } as const;

export const isCritical = ({ status, server }: HealthReport): boolean =>
  status === 'critical' || server?.status === 'critical';

/** What was found, worst first, and what could not be looked at. */
export function healthText(report: HealthReport, screen: Screen): string {
  const { jobs, server } = report;
  const findings = [...report.findings, ...(server?.findings ?? [])];
  const unseen = [report, ...(server ? [server] : [])];
  const status = isCritical(report) ? 'critical' : findings.length > 0 ? 'warning' : report.status;
  const counts = (['healthy', 'warning', 'critical', 'overtime'] as const).map((name) => `${jobs[name]} ${name}`);
  const head: Pair[] = [
    ['status', status, (text) => screen.style.as(WORDS[status], text)],
    ['running', `${jobs.total}${jobs.total === 0 ? '' : `: ${counts.join(', ')}`}`],
    ['in part', names(unseen.flatMap(({ cut }) => [...cut]))],
    ['not known', names(unseen.flatMap(({ failed }) => failed.map(({ check, reason }) => `${check}: ${reason}`)))],
  ];
  const lines = [...findings].sort(criticalFirst).map((finding) => findingText(finding, screen));
  return `${pairs(head, screen)}${lines.length === 0 ? '' : `\n${lines.join('')}`}`;
}

export const jobHealthText = (job: JobHealth, screen: Screen): string =>
  pairs(
    [
      ['job', job.id],
      ['type', job.type],
      ['queue', job.queue],
      ['state', job.state, screen.style.state],
      ['health', job.health ?? undefined, (text) => screen.style.as(job.health ? WORDS[job.health] : '', text)],
      ['runs since', job.elapsedMs === null ? undefined : span(job.elapsedMs)],
      ['silent for', job.silentMs === null ? undefined : span(job.silentMs)],
      ['last event', job.lastEvent ?? undefined],
      ['worker', job.workerId ?? undefined],
      ['says', job.activity],
    ],
    screen,
  );

const criticalFirst = (one: Finding, other: Finding): number =>
  Number(other.severity === 'critical') - Number(one.severity === 'critical');

function findingText({ severity, title }: Finding, { style, width }: Screen): string {
  const [first = '', ...rest] = wrapped(oneLine(title), width - INDENT.length);
  const begin = style.as(WORDS[severity], severity.padEnd(INDENT.length - 2));
  return `${begin}  ${first}\n${rest.map((line) => `${INDENT}${line}\n`).join('')}`;
}

const INDENT = ' '.repeat('critical'.length + 2);

const names = (list: readonly string[]): string | undefined => (list.length === 0 ? undefined : list.join('; '));
