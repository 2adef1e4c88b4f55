import { setTimeout as sleep } from 'node:timers/promises';
import type { Jobs, Json } from '@waybill/core';
import { type AnyTask, type TaskContext, task } from 'waybill';
import type { Random } from '../random.ts';
import type { Journal } from './journal.ts';
import type { Order } from './order.ts';
import { refusalOf } from './settings.ts';
import { QUEUE } from './timing.ts';

/** What a completed run leaves in its row: which run it was. */
export interface RunResult {
  job: string;
  run: number;
}

const TYPES = ['plain', 'keyed', 'unique', 'limited', 'node', 'cron'];

export const SNOOZE_MS = 150;

/** The tasks of all types do what their orders say, and note it. */
export const tasksFor = (journal: Journal): AnyTask[] =>
  TYPES.map((type) => task(`chaos.${type}`, { queue: QUEUE, run: (order: Order, run) => handle(order, run, journal) }));

async function handle(order: Order, context: TaskContext, journal: Journal): Promise<RunResult> {
  const { job, attempt, parentResults, signal } = context;
  const run = { id: job.id, run: job.run };
  journal.note({ kind: 'start', ...run, parents: parentResults.map(parentOf) });
  if (order.reports) context.progress(0.5, 'half');
  await sleep(order.ms, undefined, order.obeys ? { signal } : {});
  journal.note({ kind: 'end', ...run });
  if (attempt <= order.fails) throw new Error('This attempt was told to fail.');
  if (order.ending === 'snooze' && job.run === 1) context.snooze(SNOOZE_MS);
  if (order.ending === 'discard') context.discard('It was told to be discarded.');
  return { job: job.id, run: job.run };
}

const parentOf = (result: Json): string => (result as unknown as RunResult | null)?.job ?? 'nothing';

type Settling = Pick<Jobs, 'claim' | 'heartbeat' | 'settle' | 'report' | 'spend' | 'append' | 'ask'>;

/** The jobs of a connection; every settle is noted with its answer, and some are made once more. */
export function noted(jobs: Jobs, journal: Journal, random: Random): Settling {
  const settle = async (call: Parameters<Jobs['settle']>[0], again: boolean): ReturnType<Jobs['settle']> => {
    const { id, leaseToken = '', outcome } = call;
    const line = { kind: 'settled', id, run: Number.parseInt(leaseToken, 10), outcome: outcome.kind, again } as const;
    try {
      const job = await jobs.settle(call);
      journal.note({ ...line, answer: 'ok' });
      return job;
    } catch (error) {
      journal.note({ ...line, answer: refusalOf(error) });
      throw error;
    }
  };
  return {
    claim: (call) => jobs.claim(call),
    heartbeat: (call) => jobs.heartbeat(call),
    report: (call) => jobs.report(call),
    spend: (call) => jobs.spend(call),
    append: (call) => jobs.append(call),
    ask: (call) => jobs.ask(call),
    settle: async (call) => {
      const job = await settle(call, false);
      if (random(20) === 0) await settle(call, true).catch(() => {});
      return job;
    },
  };
}
