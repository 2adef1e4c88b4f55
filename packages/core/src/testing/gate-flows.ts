import { expect, vi } from 'vitest';
import type { Json } from '../json.ts';
import type { Lease, Waybill } from '../waybill.ts';

/** A node of a graph; its job is of the type `test.job` unless it waits for a signal. */
export const gateNode = (id: string, more: { after?: string[]; [field: string]: unknown } = {}) => {
  const { after = [], ...fields } = more;
  const job = 'signal' in fields ? {} : { type: 'test.job', args: [id], options: { retry: { max_attempts: 1 } } };
  return { id, depends_on: after, ...job, ...fields };
};

/** What can be worked on now, by the names of the nodes. */
export async function leasesOf({ jobs }: Waybill): Promise<Map<string, Lease>> {
  const leases = await jobs.claim({ queues: ['default'], count: 100, leaseMs: 86_400_000 });
  return new Map(leases.map((lease) => [lease.job.node!, lease]));
}

/** The leases of exactly these nodes, once the engine has let them start. */
export async function started(waybill: Waybill, ...names: string[]): Promise<Lease[]> {
  const found = new Map<string, Lease>();
  await vi.waitFor(async () => {
    for (const [name, lease] of await leasesOf(waybill)) found.set(name, lease);
    expect([...found.keys()].sort()).toEqual([...names].sort());
  }, PATIENCE);
  return names.map((name) => found.get(name)!);
}

export async function leaseOf(waybill: Waybill, name: string): Promise<Lease> {
  const [lease] = await started(waybill, name);
  return lease!;
}

/** For what follows by itself. A server that finds out by the clock needs the clock to move. */
export async function until(isTrue: () => Promise<boolean>, clock?: { advance(ms: number): Promise<void> }) {
  await vi.waitFor(async () => {
    if (await isTrue()) return;
    await clock?.advance(1_000);
    throw new Error('It has not come to this yet.');
  }, PATIENCE);
}

const PATIENCE = { interval: 1, timeout: 20_000 };

export async function complete({ jobs }: Waybill, lease: Lease | undefined, result: Json): Promise<void> {
  await jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome: { kind: 'completed', result } });
}

export async function fail({ jobs }: Waybill, lease: Lease | undefined): Promise<void> {
  const error = { code: 'boom', message: 'no' };
  await jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome: { kind: 'discarded', error } });
}

/** The rows of a workflow by their names. */
export async function rowsOf({ workflows }: Waybill, id: string) {
  const { items } = await workflows.nodes(id, { limit: 500 });
  return new Map(items.map((row) => [row.node!, row]));
}
