import { type AppendCall, type Jobs, type JournalEntry, WaybillError } from '@waybill/core';
import type { Middleware } from '../execute/middleware.ts';
import type { DropReason } from '../journal/journal-counts.ts';
import type { Bench } from './bench.ts';

export const AWAY = () => new WaybillError('unavailable', 'The server is away.');
export const text = ({ output, data, type }: JournalEntry) =>
  output ? Buffer.from(output).toString() : (data ?? type);
export const entriesOf = async ({ waybill }: Bench, id: string) => (await waybill.jobs.journal(id)).entries;

/** A server whose appends do what `answer` says; undefined: what the engine does. */
export function appending(
  { jobs }: Bench,
  answer: (call: AppendCall, times: number) => Promise<never> | undefined,
): { calls: AppendCall[]; jobs: Jobs } {
  const calls: AppendCall[] = [];
  const append: Jobs['append'] = (call) => {
    calls.push(call);
    return answer(call, calls.length) ?? jobs.append(call);
  };
  return { calls, jobs: { ...jobs, append } };
}

/** Resolves when the job's journal has an entry of this type. */
export async function said({ waybill }: Bench, id: string, type: string): Promise<void> {
  const stop = new AbortController();
  for await (const _ of waybill.jobs.follow(id, { types: [type], signal: stop.signal })) break;
  stop.abort();
}

/** How long real work may take, beside the time that a test lets pass at once; less than the time between two heartbeats. */
const REAL_MS = 12_000;

/**
 * Lets time pass until this has happened: `mostMs` of it at once, by default less than a lease, and then a little more, no
 * faster than real time. The reason is work that takes real time, such as compressing or writing to a disk: on a busy machine
 * all of `mostMs` may pass before it is done, and what follows it needs time as well. Rejects where it does not happen.
 */
export async function passing<T>({ clock }: Bench, ms: number, until: Promise<T>, mostMs = 20_000): Promise<T> {
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  for (let passed = 0; !isOver; passed += ms) {
    if (passed < mostMs) await new Promise((resolve) => setImmediate(resolve));
    else await new Promise((resolve) => setTimeout(resolve, ms));
    if (passed > mostMs + REAL_MS) throw new Error('What the test waits for did not happen.');
    await clock.advance(ms);
  }
  return over;
}

/** A middleware that notes what it is told of dropped entries: how many of each reason. */
export function dropsTold(): { told: Partial<Record<DropReason, number>>; middleware: Middleware[] } {
  const told: Partial<Record<DropReason, number>> = {};
  const broken: Middleware = Object.assign((_: unknown, next: () => Promise<unknown>) => next(), {
    dropped: () => {
      throw new Error('This middleware is broken.');
    },
  });
  const noting: Middleware = Object.assign((_: unknown, next: () => Promise<unknown>) => next(), {
    dropped: (entries: number, reason: DropReason) => {
      told[reason] = (told[reason] ?? 0) + entries;
    },
  });
  return { told, middleware: [broken, noting] };
}
