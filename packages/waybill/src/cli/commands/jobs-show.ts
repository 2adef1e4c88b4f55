import { eventToWire, jobToWire, progressToWire, toRfc3339 } from '@waybill/client';
import {
  isFinished,
  type Job,
  type LoggedEvent,
  type Progress,
  TERMINAL_EVENT_TYPES,
  type Waybill,
} from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { wholeId } from '../job-ids.ts';
import { away, span } from '../spans.ts';
import { pairs, table } from '../table.ts';
import { hanging, oneLine } from '../text-width.ts';

const PAGE = 1_000;

export const jobsShow = command({
  name: 'jobs show',
  section: 'Jobs',
  summary: 'show a job with its errors and everything that happened to it',
  args: 'ID',
  run: async ({ args: [named = ''] }, context) => {
    const waybill = await context.connect();
    const id = await wholeId(waybill, named);
    const job = await waybill.jobs.get(id);
    const [events, progress] = await Promise.all([eventsOf(waybill, job), waybill.jobs.progress(id)]);
    const told = progress && { progress: progressToWire(job, progress) };
    const document = { job: jobToWire(job), ...told, events: events.map(eventToWire) };
    context.show(
      document,
      () => factsOf(job, progress, context) + errorsOf(job, context) + timelineOf(events, context),
    );
    return 0;
  },
});

/** From the oldest event kept. Of a finished job nothing comes after its end, and logs can be long. */
async function eventsOf({ events }: Waybill, job: Job): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  let after: string | undefined;
  for (;;) {
    const filter = { jobIds: [job.id] };
    const page = await events.read({ filter, limit: PAGE, ...(after !== undefined && { after }) });
    found.push(...page.events);
    if (page.atEnd || (isFinished(job.state) && found.some((event) => isEndOf(job, event)))) return found;
    after = page.cursor;
  }
}

const isEndOf = ({ finishedAt }: Job, { type, at }: LoggedEvent): boolean =>
  TERMINAL_EVENT_TYPES.has(type) && at >= (finishedAt ?? 0);

function factsOf(job: Job, progress: Progress | null, context: Context): string {
  const { style, io } = context;
  const { spec } = job;
  const at = (ms: number | null) => (ms === null ? undefined : `${toRfc3339(ms)} (${away(ms, io.now())})`);
  const isWaiting = job.state === 'scheduled' || job.state === 'retryable';
  const isActive = job.state === 'active';
  return pairs(
    [
      ['id', job.id],
      ['type', job.type],
      ['state', job.dead ? `${job.state} (dead letter)` : job.state, style.state],
      ['queue', job.queue],
      ['priority', job.priority === 0 ? undefined : String(job.priority)],
      ['attempt', `${job.attempt} of ${job.maxAttempts}`],
      ['workflow', job.workflowId === null ? undefined : `${job.workflowId} (node ${job.node})`],
      ['created', at(job.createdAt)],
      ['due', isWaiting ? at(job.scheduledAt) : undefined],
      ['started', at(job.startedAt)],
      ['finished', at(job.finishedAt)],
      ['worker', isActive ? (job.workerId ?? undefined) : undefined],
      ['lease', isActive ? at(job.leaseUntil) : undefined],
      ['progress', progress === null ? undefined : progressText(job, progress)],
      ['args', JSON.stringify(spec.args)],
      ['meta', Object.keys(spec.meta).length === 0 ? undefined : JSON.stringify(spec.meta)],
      ['retry', spec.retry === undefined ? undefined : JSON.stringify(spec.retry)],
      ['options', spec.options === undefined ? undefined : JSON.stringify(spec.options)],
      ['result', job.result === null ? undefined : JSON.stringify(job.result)],
    ],
    context,
  );
}

function progressText(job: Job, known: Progress): string {
  const { progress, data } = progressToWire(job, known);
  const percent = progress === null ? [] : [`${Math.round(progress * 100)} %`];
  return [...percent, ...(data === null ? [] : [JSON.stringify(data)])].join(' ');
}

function errorsOf({ errors }: Job, { style, width }: Context): string {
  if (errors.length === 0) return '';
  const lines = errors.map(
    ({ attempt, occurredAt, type, code, message }) =>
      `  #${attempt} ${toRfc3339(occurredAt)} ${style.state('failed')} ${oneLine(`${type ?? code}: ${message}`)}`,
  );
  return `\n${style.bold('Errors')}\n${lines.map((line) => `${hanging(line, width, '     ')}\n`).join('')}`;
}

/** Each event with how long after the one before it came: the gaps tell waiting from running. */
function timelineOf(events: readonly LoggedEvent[], context: Context): string {
  const { style } = context;
  if (events.length === 0) return `\n${style.bold('Timeline')}\n  Its events are older than the log.\n`;
  const rows = events.map((event, index) => ({ event, gap: event.at - (events[index - 1]?.at ?? event.at) }));
  const shown = table(
    rows,
    [
      { title: 'TIME', of: ({ event }) => toRfc3339(event.at) },
      { title: 'AFTER', of: ({ gap }) => (gap === 0 ? '' : span(gap)), align: 'right' },
      { title: 'EVENT', of: ({ event }) => event.type.replace('job.', ''), paint: style.state },
      { title: 'RUN', of: ({ event }) => (event.run === 0 ? '' : String(event.run)), align: 'right' },
      { title: 'DATA', of: ({ event }) => dataOf(event), least: 12 },
    ],
    context,
  );
  return `\n${style.bold('Timeline')}\n${shown}`;
}

const dataOf = ({ data }: LoggedEvent): string => (Object.keys(data).length === 0 ? '' : JSON.stringify(data));
