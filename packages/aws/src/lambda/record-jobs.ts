import { randomUUID } from 'node:crypto';
import { type Clock, type Jobs, parseToken, WaybillError } from '@waybill/core';
import type { RecordTransport } from './record-transport.ts';

/** What a worker needs of an engine. */
export type WorkerJobs = Pick<Jobs, 'claim' | 'heartbeat' | 'settle' | 'report' | 'spend' | 'append' | 'ask'>;

/** The jobs of one invocation: a worker gets those that its messages name, and then no more. */
export function recordJobs(jobs: WorkerJobs, records: RecordTransport, clock: Clock): WorkerJobs {
  const held = new Map<string, { tenant: string; receipt: string }>();

  /** Somebody else has the job now, or nobody shall: there is nothing left to do with its message. */
  const giveUp = (id: string): void => {
    const one = held.get(id);
    if (one) void records.ack(one);
  };

  return {
    claim: async (call) => {
      const next = records.next();
      if (next === null) {
        await clock.sleep(call.waitMs ?? 0, call.signal);
        return [];
      }
      const { tenant, queues } = next;
      const count = Math.min(call.count ?? 1, next.count);
      const { claimId = randomUUID() } = call;
      const asked = { ...call, claimId, tenant, queues, count, waitMs: 0 };
      const leases = await jobs.claim(asked).catch((error: unknown) => {
        records.takeBack(claimId);
        throw error;
      });
      for (const { job, token } of leases) held.set(job.id, { tenant, receipt: parseToken(token).receipt! });
      return leases;
    },
    heartbeat: async (call) => {
      // A batch may have jobs of several tenants, and a heartbeat is of one.
      const byTenant = Map.groupBy(call.jobs, ({ id }) => held.get(id)?.tenant ?? '');
      if (byTenant.size === 0) return jobs.heartbeat(call);
      const calls = [...byTenant].map(([tenant, own]) => jobs.heartbeat({ ...call, tenant, jobs: own }));
      const answers = await Promise.all(calls);
      const lost = answers.flatMap((answer) => answer.lost);
      for (const id of lost) giveUp(id);
      return { ...answers[0]!, extended: answers.flatMap(({ extended }) => extended), lost };
    },
    settle: async (call) => {
      try {
        return await jobs.settle(call);
      } catch (error) {
        if (error instanceof WaybillError && ['lease_lost', 'not_found', 'conflict'].includes(error.code))
          giveUp(call.id);
        throw error;
      }
    },
    report: (call) => jobs.report(call),
    spend: (call) => jobs.spend(call),
    append: (call) => jobs.append(call),
    ask: (call) => jobs.ask(call),
  };
}
