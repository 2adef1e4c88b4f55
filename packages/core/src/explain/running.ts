import { isPast } from '../job/settle.ts';
import { type Family, timeOf } from './situation.ts';
import { isLive } from './worker-life.ts';

/** Who runs the job, and until when. */
export const running: Family = {
  what: 'Its lease',
  of: async ({ job, now, store }) => {
    if (job.state !== 'active') return [];
    const { workerId, leaseUntil, timeoutAt, startedAt, run } = job;
    const who = `Worker '${workerId}'`;
    const details = {
      ...{ worker_id: workerId, run, ...(startedAt !== null && { started_at: timeOf(startedAt) }) },
      ...(leaseUntil !== null && { until: timeOf(leaseUntil) }),
    };
    if (isPast(leaseUntil, now) || isPast(timeoutAt, now)) {
      const [what, end] = isPast(timeoutAt, now) ? ['time', timeoutAt] : ['lease', leaseUntil!];
      const message = `${who} had it. Its ${what} ended at ${timeOf(end)}, and no sweep has taken it back yet.`;
      return [{ code: 'lease_expired', message, hint: SWEEP_HINT, details }];
    }
    const worker = (await store.workers.list(job.tenant)).find(({ id }) => id === workerId);
    const silent =
      worker === undefined || isLive(worker, now)
        ? ''
        : ` The worker was last seen at ${timeOf(worker.lastSeenAt)}: unless it comes back, the job runs again then.`;
    return [
      {
        code: 'running',
        message: `${who} runs it${startedAt === null ? '' : ` since ${timeOf(startedAt)}`}, and has it until ${timeOf(leaseUntil ?? now)} unless it prolongs the lease.${silent}`,
        hint: `To see what it does: waybill logs ${job.id} --follow`,
        details,
      },
    ];
  },
};

/** Only servers and workers do upkeep. */
export const SWEEP_HINT = 'Check that a server or a worker runs on this store: waybill doctor';
