import path from 'node:path';
import { engine, type Waybill } from '@waybill/core';
import { openStore } from 'waybill';

/** A hundred bytes of arguments. */
export const ARGS = [{ order: 12_345, customer: 'ada@example.com', note: 'a hundred bytes or so of arguments' }];
export const JOB = { type: 'bench.job', args: ARGS, options: { queue: 'bench' } };

/** The engine as a user has it: defaults, full durability. */
export async function withEngine<T>(folder: string, run: (waybill: Waybill) => Promise<T>): Promise<T> {
  const waybill = engine({ store: await openStore(`sqlite:${path.join(folder, 'bench.db')}`) });
  try {
    return await run(waybill);
  } finally {
    await waybill.close();
  }
}

/** Runs `step` again and again, so many at a time, until it says that it is done. */
export async function inFlight(count: number, step: () => Promise<boolean>): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (await step());
    }),
  );
}
