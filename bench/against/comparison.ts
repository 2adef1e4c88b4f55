import { latencies, rateOf, serversOf, spread } from '../report.ts';
import { median, type Result, timePerJob } from '../result.ts';
import { orderOf } from '../rounds.ts';
import { slowestRound, slowRounds } from '../slow-rounds.ts';

/** `this` is the build of the working tree, `ref` that of the revision it is compared with. */
export type Side = 'this' | 'ref';
export type Sides<T> = Record<Side, T>;

/** Runs both sides in every round, in the opposite order of the round before, so that a slow drift favours neither. */
export async function alternate<T>(
  rounds: number,
  run: (side: Side, round: number) => Promise<T>,
): Promise<Sides<T[]>> {
  const results: Sides<T[]> = { this: [], ref: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const side of orderOf<Side>(['this', 'ref'], round)) results[side].push(await run(side, round));
  }
  return results;
}

/**
 * One ratio per round, above 1 where this side is better: the rate of this side as a part of the other's, or the
 * latency of the other side as a part of this one's. Both are the other side's time as a part of this side's time.
 */
export const ratiosOf = ({ this: ours, ref }: Sides<readonly Result[]>): number[] =>
  ours.map((result, round) => timePerJob(ref[round]!) / timePerJob(result));

export const isGoodEnough = (ratios: readonly number[], atLeast: number | undefined): boolean =>
  atLeast === undefined || median(ratios) >= atLeast;

export interface Compared {
  /** Of the workload, and of the system where it is not the usual one. */
  name: string;
  results: Sides<readonly Result[]>;
}

/** What the ratios mean; printed once, above them. */
export function headingOf(
  ref: string,
  { rounds, tree, commit }: { rounds: number; tree: string; commit: string },
): string {
  return [
    `this (${tree}) against ${ref} (${commit}): median of ${rounds === 1 ? 'one round' : `${rounds} rounds`} (range)`,
    `Higher is better everywhere: a rate is this / ${ref}, a latency (p50) is ${ref} / this.`,
  ].join('\n');
}

export function comparisonOf({ name, results }: Compared, ref: string, width: number, atLeast?: number): string {
  const ratios = ratiosOf(results);
  const verdict = atLeast === undefined ? '' : `   ${verdictOf(ratios, atLeast)}`;
  const sides = [
    { label: 'this', own: results.this },
    { label: ref, own: results.ref },
  ];
  const labelWidth = Math.max(...sides.map(({ label }) => label.length));
  const lines = [
    ...serversOf([...results.this, ...results.ref]),
    ...sides.flatMap(({ label, own }) => [
      `  ${label.padEnd(labelWidth)}  ${[measuredOf(own), slowestRound(own)].filter(Boolean).join('  ')}`,
      ...slowRounds(own).map((told) => `  ${' '.repeat(labelWidth)}  ${told}`),
    ]),
  ];
  return [`${name.padEnd(width)}  ${spread(ratios)} of ${ref}${verdict}`, ...lines].join('\n');
}

/** Three digits where a ratio falls short, because two may round it up to the limit. */
const verdictOf = (ratios: readonly number[], atLeast: number): string =>
  isGoodEnough(ratios, atLeast)
    ? `ok: at least ${atLeast.toFixed(2)}`
    : `too low: ${median(ratios).toFixed(3)} is below ${atLeast.toFixed(2)}`;

const measuredOf = (own: readonly Result[]): string =>
  own[0]!.p50_ms === undefined ? `${rateOf(own)} jobs/s` : latencies(own);
