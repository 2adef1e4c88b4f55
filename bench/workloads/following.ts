import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewEntry, Waybill } from '@waybill/core';
import { elapsed, percentile, scaled, type Told } from '../result.ts';
import { lineOf, started } from './journal.ts';

export const FOLLOWERS = 200;
const APPENDS = 500;
const WARM_UP = 50;
/** One that is timed, and one that fills the buffer of a stuck follower. */
const PER_APPEND = 2;
const FILLING = Buffer.concat(Array.from({ length: 10 }, (_, n) => lineOf(n)));

export interface Following {
  reader: Waybill;
  writer: Waybill;
  callsPerSecond: number;
  /** Said before anything is timed; the followers begin behind it. */
  before?: readonly NewEntry[];
  /** Follows the job, and then takes nothing more. Resolves when it is there. */
  stick?(id: string, signal: AbortSignal): Promise<void>;
  stuck: number;
  settings: string;
}

/** From the append call to the moment at which each of 200 followers of the job has the entry. */
export async function timeFollowers(
  { reader, writer, callsPerSecond, before = [], stick, stuck, settings }: Following,
  scale: number,
): Promise<Told> {
  const enough = new AbortController();
  try {
    const [lease] = await started(writer, 1);
    for (const entry of before) await writer.jobs.append({ ...lease!, entries: [entry] });
    const appends = WARM_UP + scaled(APPENDS, scale);
    const waits: number[] = [];
    const heard = { waits, first: before.length + 1, appends, signal: enough.signal };
    const readers = Array.from({ length: FOLLOWERS }, () => listen(reader, lease!.id, heard));
    for (let n = 0; n < stuck; n += 1) await stick?.(lease!.id, enough.signal);
    await Promise.all(readers.map(({ live }) => live));
    const begun = performance.now();
    for (let n = 0; n < appends; n += 1) {
      await sleep(Math.max(0, begun + (n * 1_000) / callsPerSecond - performance.now()));
      await writer.jobs.append({ ...lease!, entries: entriesAt(n, heard.first) });
    }
    await Promise.all(readers.map(({ all }) => all));
    const seconds = elapsed(begun);
    const sorted = waits.toSorted((a, b) => a - b);
    const beside = stuck ? ` beside ${stuck} stuck` : '';
    return {
      ...{ jobs: appends * PER_APPEND, seconds },
      ...{ p50_ms: percentile(sorted, 0.5), p95_ms: percentile(sorted, 0.95), p99_ms: percentile(sorted, 0.99) },
      settings: `${FOLLOWERS} followers of one job${beside}, ${callsPerSecond} calls/s, ${settings}, ${load()}`,
    };
  } finally {
    enough.abort();
  }
}

/** Of the last minute. A figure from a busy machine tells of the machine. */
export const load = (): string => `load ${loadavg()[0]!.toFixed(1)}`;

/** The first entry of each call says when it was made. */
const entriesAt = (call: number, first: number): NewEntry[] =>
  Array.from({ length: PER_APPEND }, (_, n) => {
    const sequence = first + call * PER_APPEND + n;
    return n === 0
      ? { sequence, type: 'bench.sent', data: { call, at: performance.now() } }
      : { sequence, type: 'output', output: FILLING };
  });

interface Heard {
  waits: number[];
  first: number;
  appends: number;
  signal: AbortSignal;
}

function listen(waybill: Waybill, id: string, { waits, first, appends, signal }: Heard) {
  const live = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    let next = first;
    // Of one run a store need not read what is before the sequence.
    const query = { signal, run: 1, fromSequence: first, onLive: () => live.resolve() };
    for await (const said of waybill.jobs.follow(id, query)) {
      if (said.kind !== 'entry') continue;
      const { sequence, data } = said.entry;
      if (sequence !== next) throw new Error(`A follower got entry ${sequence} after ${next - 1}.`);
      next += 1;
      const { call, at } = (data ?? {}) as { call?: number; at?: number };
      if (call !== undefined && call >= WARM_UP) waits.push(performance.now() - at!);
      if (next === first + appends * PER_APPEND) return;
    }
  };
  const all = read();
  // One that fails before it is live would be waited for in vain.
  all.catch(live.reject);
  return { live: live.promise, all };
}
