import type { Outcome, Waybill } from '@waybill/core';
import type { TestClock } from '@waybill/core/testing';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Everything that is over goes after a day, so that a week has a level that it keeps. */
export const SOAK_OPTIONS = {
  sweepEveryMs: HOUR_MS,
  retention: { finishedMs: DAY_MS, deadMs: DAY_MS, eventsMs: DAY_MS, unusedMs: DAY_MS, everyMs: HOUR_MS },
} as const;

/** Sweep and prune sleep: the engine has done what there was to do. */
const LOOPS = 2;

const COMPLETED: Outcome = { kind: 'completed', result: { ok: true } };
const DEAD: Outcome = { kind: 'discarded', error: { code: 'boom', message: 'It broke.' }, deadLetter: true };

/** What people set up once, and what therefore stays. */
export async function setUp(waybill: Waybill): Promise<void> {
  await waybill.limits.set('set', { concurrency: 5, rate: null });
  await waybill.queues.pause('paused');
  await waybill.crons.put({
    name: 'hourly',
    expression: '0 * * * *',
    job_template: { type: 'soak.cron', args: [], options: { queue: 'cron' } },
  });
}

/** What is left is done, and nothing new comes from then on. */
export async function windDown(waybill: Waybill, clock: TestClock, hour: number): Promise<void> {
  await waybill.crons.setEnabled('hourly', false);
  await pass(clock, HOUR_MS);
  while ((await work(waybill, [`queue-${hour - 1}`, 'cron'], 'worker-last')) > 0);
}

/** An hour in which everything comes under new names: queues, limits, keys, workers, schedules, workflows, records. */
export async function busyHour(waybill: Waybill, clock: TestClock, hour: number): Promise<void> {
  const queue = `queue-${hour}`;
  const workerId = `worker-${hour}`;
  const job = (options: Record<string, unknown> = {}) => ({
    type: 'soak.job',
    args: [hour],
    options: { queue, ...options },
  });
  await waybill.jobs.heartbeat({ workerId, instance: `start-${hour}`, jobs: [] });
  await waybill.jobs.enqueueMany([job(), job(), job({ scheduled_at: '+PT30M' })]);
  const limit = { key: `limit-${hour}`, concurrency: 1, max_per_minute: 100 };
  await waybill.jobs.enqueueMany([job({ rate_limit: limit }), job({ rate_limit: limit })]);
  await waybill.jobs.enqueue(job({ unique: { keys: ['type', 'args'] } }));
  await waybill.jobs.enqueue(job(), { idempotencyKey: `key-${hour}` });
  await waybill.jobs.enqueue({ ...job(), type: 'soak.dead' });
  await waybill.workflows.create({ type: 'chain', steps: [job(), job()] });
  await waybill.crons.put({ name: `cron-${hour}`, expression: '0 0 1 1 *', job_template: job() });
  await waybill.crons.remove(`cron-${hour}`);
  const expiresAt = clock.now() + HOUR_MS;
  await waybill.records!.put({ kind: 'soak', id: `record-${hour}`, value: {}, expected: 0, expiresAt });
  const queues = [queue, `queue-${hour - 1}`, 'cron'];
  while ((await work(waybill, queues, workerId)) > 0);
  await pass(clock, HOUR_MS);
}

/** Claims what there is, and ends it; answers how many jobs. */
async function work(waybill: Waybill, queues: readonly string[], workerId: string): Promise<number> {
  const leases = await waybill.jobs.claim({ queues, workerId, count: 50 });
  for (const { job, token } of leases) {
    await waybill.jobs.report({ id: job.id, leaseToken: token, fraction: 0.5, checkpoint: { at: 1 } });
    const outcome = job.type === 'soak.dead' ? DEAD : COMPLETED;
    await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  }
  return leases.length;
}

/** Time passes, and the upkeep of that time is done. */
export async function pass(clock: TestClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= HOUR_MS) {
    await clock.whenSleeping(LOOPS);
    await clock.advance(Math.min(left, HOUR_MS));
  }
  await clock.whenSleeping(LOOPS);
}
