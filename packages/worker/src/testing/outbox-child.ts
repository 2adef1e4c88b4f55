// A worker in a process of its own, whose server is the process that started it. Told by its arguments what to do.
import { silentLogger, systemClock, WaybillError } from '@waybill/core';
import { Outbox } from '../journal/outbox/outbox.ts';
import type { WorkerOptions } from '../options.ts';
import { task } from '../task.ts';
import { Worker } from '../worker.ts';

export type ToParent = { kind: 'call'; number: number; method: string; args: unknown } | { kind: 'told'; what: string };
export interface ToChild {
  number: number;
  answer?: unknown;
  error?: { code: 'unavailable'; message: string };
}

const [folder, does] = process.argv.slice(2) as [string, 'speak' | 'send-orphans'];
const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: unknown): void }>();
let number = 0;

const tell = (message: ToParent) => process.send!(message);

function call(method: string): (args: object) => Promise<never> {
  return ({ signal: _, ...args }: { signal?: unknown }) =>
    new Promise((resolve, reject) => {
      number += 1;
      waiting.set(number, { resolve: resolve as (answer: unknown) => void, reject });
      tell({ kind: 'call', number, method, args });
    });
}

process.on('message', ({ number: answered, answer, error }: ToChild) => {
  const one = waiting.get(answered);
  waiting.delete(answered);
  if (error) one?.reject(new WaybillError(error.code, error.message));
  else one?.resolve(answer);
});
process.on('disconnect', () => process.exit());

const jobs = Object.fromEntries(
  ['claim', 'heartbeat', 'settle', 'report', 'append'].map((method) => [method, call(method)]),
) as unknown as WorkerOptions['jobs'];

if (does === 'send-orphans') {
  const counts = { stored: 0, dropped: 0 };
  await new Outbox(folder, { jobs, clock: systemClock, logger: silentLogger, counts }).sendOrphans();
  tell({ kind: 'told', what: `sent ${counts.stored}` });
} else {
  const loud = task('loud.one', {
    outbox: folder,
    run: async (_, { emit }) => {
      for (let step = 1; step <= 200; step += 1) await emit('step.done', step, { critical: true });
      tell({ kind: 'told', what: 'spoken' });
      await new Promise(() => {});
    },
  });
  new Worker({ jobs, tasks: [loud], logger: silentLogger }).start();
}
