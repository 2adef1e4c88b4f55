import type { Outcome } from '../job/outcome.ts';
import type { Lease } from '../waybill.ts';
import type { TestEngine } from './test-engine.ts';

export const done = (result: string): Outcome => ({ kind: 'completed', result });
export const failed: Outcome = { kind: 'discarded', error: { code: 'boom', message: 'no' } };
export const step = (name: string) => ({ type: `test.${name}`, args: [name] });

export type Made = TestEngine;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets the sweep do what is due: it is woken at once, so turns must pass rather than time. */
export const settleDown = async ({ clock }: Made) => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  await clock.advance(1);
};

export async function claimAll(made: Made): Promise<Map<string, Lease>> {
  await settleDown(made);
  const leases = await made.waybill.jobs.claim({ queues: ['default'], count: 1_000, leaseMs: 3_600_000 });
  return new Map(leases.map((lease) => [lease.job.type.replace('test.', ''), lease]));
}

export async function settle(made: Made, lease: Lease | undefined, outcome: Outcome): Promise<void> {
  await made.waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
}
