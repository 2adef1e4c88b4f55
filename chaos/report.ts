import { isFinished } from '@waybill/core';
import { type Audited, violationsIn } from './audit/audit.ts';
import type { Note } from './evidence/note.ts';
import { type ChaosOptions, commandFor } from './options.ts';
import { ABOUT, type Fault, type FaultKind } from './plan/fault.ts';
import type { RoundResult } from './run/round.ts';

/** Of each guarantee that was broken. */
const SHOWN = 5;

export interface Summary {
  store: string;
  seed: string;
  minutes: number;
  /** Jobs that came to an end, and how many of them in a second. */
  jobs: number;
  jobs_per_second: number;
  seconds: number;
  violations: number;
  guarantees: {
    guarantee?: number;
    about: string;
    checked?: number;
    things?: string;
    violations?: string[];
    not_here?: string;
  }[];
  faults: { kind: FaultKind; count: number; targets: Record<string, number>; missed: number; left_out?: string }[];
  /** How calls of producers were answered. */
  answers: Record<string, number>;
  again: string;
}

export function summaryOf(options: ChaosOptions, result: RoundResult, rows: readonly Audited[]): Summary {
  const { store, seed, minutes } = options;
  const jobs = [...result.evidence.jobs.values()].filter(({ state }) => isFinished(state)).length;
  const seconds = result.tookMs / 1_000;
  return {
    ...{ store, seed, minutes, jobs },
    jobs_per_second: Math.round((jobs / seconds) * 10) / 10,
    seconds: Math.round(seconds * 10) / 10,
    violations: violationsIn(rows),
    guarantees: rows.map(({ guarantee, about, notHere, finding }) => ({
      ...(guarantee !== undefined && { guarantee }),
      about,
      ...(finding && { checked: finding.checked, things: finding.things, violations: finding.violations }),
      ...(notHere !== undefined && { not_here: notHere }),
    })),
    faults: faultsOf(result),
    answers: counted(result.evidence.notes.map(answerOf).filter((answer) => answer !== undefined)),
    again: commandFor(options),
  };
}

function faultsOf({ injected, missed, leftOut }: RoundResult): Summary['faults'] {
  const kinds = (Object.keys(ABOUT) as FaultKind[]).filter((kind) =>
    [...injected, ...missed].some((one) => one.kind === kind),
  );
  return kinds.map((kind) => {
    const own = injected.filter((fault) => fault.kind === kind);
    const why = leftOut[kind as keyof typeof leftOut];
    return {
      ...{ kind, count: own.length, targets: counted(own.map(roleOf)) },
      missed: missed.filter((fault) => fault.kind === kind).length,
      ...(why !== undefined && { left_out: why }),
    };
  });
}

/** `worker-3` is a worker. */
const roleOf = ({ target }: Fault): string => target.replace(/-\d+$/, '');

function answerOf(note: Note): string | undefined {
  if (note.kind === 'answered') return 'ok';
  return note.kind === 'refused' ? note.code : undefined;
}

const counted = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]));

/** For people. */
export function tableOf(summary: Summary): string {
  const { store, seed, minutes, jobs, seconds, jobs_per_second: rate } = summary;
  return [
    `${store}, seed ${seed}, ${minutes} minutes: ${shown(jobs)} jobs ended in ${seconds} s, ${rate} per second`,
    '',
    `  ${'guarantee'.padEnd(41)}${'checked'.padStart(24)}${'violations'.padStart(12)}`,
    ...summary.guarantees.map(rowOf),
    '',
    ...summary.faults.map(faultLine),
    '',
    `  answers to producers: ${listOf(summary.answers)}`,
    ...violationLines(summary),
  ].join('\n');
}

function rowOf({ guarantee, about, checked, things, violations, not_here }: Summary['guarantees'][number]): string {
  const name = `${String(guarantee ?? '').padStart(4)}  ${about.padEnd(37)}`;
  if (not_here !== undefined) return `${name}  not checked: ${not_here}`;
  return `${name}${`${shown(checked!)} ${things}`.padStart(24)}${shown(violations!.length).padStart(12)}`;
}

function faultLine({ kind, count, targets, missed, left_out }: Summary['faults'][number]): string {
  const whom = Object.keys(targets).join() === 'store' ? '' : listOf(targets);
  const notes = [
    whom,
    missed > 0 && left_out === undefined && `${missed} missed their target`,
    left_out && `left out: ${left_out}`,
  ];
  return `  ${kind.padEnd(16)}  ${String(count).padStart(4)}  ${[ABOUT[kind], ...notes.filter(Boolean)].join('; ')}`;
}

const listOf = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([word, count]) => `${shown(count)} ${word}`)
    .join(', ');

function violationLines({ guarantees, violations, again }: Summary): string[] {
  if (violations === 0) return [];
  const broken = guarantees.filter((row) => (row.violations?.length ?? 0) > 0);
  return [
    '',
    ...broken.flatMap(({ guarantee, about, violations: own = [] }) => [
      `${guarantee === undefined ? 'Broken' : `Guarantee ${guarantee} is broken`}: ${about}`,
      ...own.slice(0, SHOWN).map((text) => `  - ${text}`),
      ...(own.length > SHOWN ? [`  and ${own.length - SHOWN} more`] : []),
    ]),
    '',
    `Run the same faults again: ${again}`,
  ];
}

const shown = (count: number): string => count.toLocaleString('en');
