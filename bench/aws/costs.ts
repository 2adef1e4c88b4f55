import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { engine, type JobOptions, type JsonObject, type Lease, type Outcome, type Waybill } from '@waybill/core';
import { task as taskOf, Worker } from 'waybill';
import { elapsed, type Run, round, scaled } from '../result.ts';
import { mustBe } from '../worked.ts';
import { metered, type Place, type Way } from './metered.ts';
import { perMillion, perMonth, sumOf, type Units } from './prices.ts';

const JOBS = 200;
/** As many as a worker has hands by default. */
const PER_CLAIM = 10;
/** As the worker takes them. */
const LEASE_MS = 30_000;
const IDLE_S = 60;
/** Until queues are found and the first looks are over. */
const SETTLING_S = 3;
const QUEUE = 'bench';
const TYPE = 'email.send';
/** 500 bytes of args in JSON. */
const ARGS = 'x'.repeat(496);
const COMPLETED: Outcome = { kind: 'completed', result: { ok: true } };
/** Costs what a failure with a retry costs, but for the error in the row, and is ready at once. */
const REQUEUED: Outcome = { kind: 'requeued' };
const WORKER = 'bench-worker';
const LOOK_EVERY_MS = 20;
const HOUR_S = 3_600;

/** What the steps of a job take, each alone; and what a process takes that has nothing to do. */
export interface Costs {
  enqueue: Units;
  claim: Units;
  settle: Units;
  /** From enqueue to end. */
  job: Units;
  /** One job, one beat. */
  heartbeat: Units;
  usd_per_million_jobs: number;
  usd_per_million_heartbeats: number;
  /** One process with a server's upkeep and one worker that waits for one queue. */
  idle_hour?: Units;
  usd_per_idle_month?: number;
}

/** What is different from the plain path. */
export interface Variation {
  args?: string;
  /** What each job has beside a queue. */
  more?: (job: number) => { meta?: JsonObject; options?: JobOptions };
  withIdempotencyKey?: boolean;
  /** One call after the other, so that nothing is shared. */
  alone?: boolean;
  /** How often each job is handed back and claimed again before it completes. */
  again?: number;
}

/** Counts what jobs cost on DynamoDB, alone or with SQS. */
export const costs =
  (way: Way): Run =>
  async ({ scale, dynamodb, sqs }) => {
    const begun = performance.now();
    const place = { dynamodb: dynamodb!, sqs: sqs!, way };
    const jobs = jobsOf(scale);
    const steps = await ofJobs(place, jobs, {});
    const idle_hour = await ofAnHour(place, Math.max(SETTLING_S, IDLE_S * scale));
    const idle = { idle_hour, usd_per_idle_month: round(perMonth(idle_hour)) };
    return { jobs, seconds: elapsed(begun), settings: settingsOf(way), costs: { ...told(steps), ...idle } };
  };

/** Counts what jobs cost that are not plain. */
export const variation =
  (way: Way, different: Variation): Run =>
  async ({ scale, dynamodb, sqs }) => {
    const begun = performance.now();
    const jobs = jobsOf(scale);
    const steps = await ofJobs({ dynamodb: dynamodb!, sqs: sqs!, way }, jobs, different);
    return { jobs, seconds: elapsed(begun), settings: settingsOf(way), costs: told(steps) };
  };

const jobsOf = (scale: number): number => Math.ceil(scaled(JOBS, scale) / PER_CLAIM) * PER_CLAIM;

const settingsOf = ({ ready }: Way): string =>
  `ready=${ready}, leases of ${LEASE_MS / 1000} s, ${PER_CLAIM} jobs per claim and heartbeat`;

type Steps = Pick<Costs, 'enqueue' | 'claim' | 'heartbeat' | 'settle'>;

function told(steps: Steps): Costs {
  const job = sumOf([steps.enqueue, steps.claim, steps.settle]);
  return {
    ...{ ...steps, job, usd_per_million_jobs: round(perMillion(job)) },
    usd_per_million_heartbeats: round(perMillion(steps.heartbeat)),
  };
}

async function ofJobs(place: Place, jobs: number, different: Variation): Promise<Steps> {
  const { args = ARGS, more = nothing, alone = false, again = 0, withIdempotencyKey } = different;
  const meter = await metered(place, `bench-${randomUUID()}`);
  const waybill = engine({ ...meter.parts, maintenance: false });
  const each = alone ? oneByOne : allAtOnce;
  /** Answered before their hints are sent, so these are waited for. */
  const enqueue = async (count: number): Promise<void> => {
    await each(Array.from({ length: count }), async (_, job) => {
      const { options, ...rest } = more(job);
      const request = { type: TYPE, args: [args], ...rest, options: { queue: QUEUE, ...options } };
      await waybill.jobs.enqueue(request, withIdempotencyKey ? { idempotencyKey: randomUUID() } : {});
    });
    while ((await meter.depth(QUEUE)) < count) await sleep(LOOK_EVERY_MS);
  };
  const count = alone ? 1 : PER_CLAIM;
  const claim = () => waybill.jobs.claim({ queues: [QUEUE], count, leaseMs: LEASE_MS, workerId: WORKER });
  const settle = (leases: readonly Lease[], outcome: Outcome) =>
    each(leases, async ({ job: { id }, token }) => {
      await waybill.jobs.settle({ id, leaseToken: token, outcome });
    });
  const claimAll = async (): Promise<Lease[]> => {
    const leases: Lease[] = [];
    while (leases.length < jobs) leases.push(...(await claim()));
    mustBe('jobs claimed', leases.length, jobs);
    return leases;
  };
  try {
    // The first job of a process notes the queue and makes its messages a place, which is no job's cost.
    await enqueue(1);
    await settle(await claim(), COMPLETED);
    const enqueued = await meter.per(jobs, () => enqueue(jobs));
    let leases: Lease[] = [];
    const repeated: Units[] = [];
    const claimed = await meter.per(jobs, async () => {
      leases = await claimAll();
    });
    for (let time = 0; time < again; time += 1) {
      repeated.push(
        await meter.per(jobs, async () => {
          await settle(leases, REQUEUED);
          while ((await meter.depth(QUEUE)) < jobs) await sleep(LOOK_EVERY_MS);
          leases = await claimAll();
        }),
      );
    }
    const heartbeat = await meter.per(jobs, () => beat(waybill, leases));
    const settled = await meter.per(jobs, () => settle(leases, COMPLETED));
    return { enqueue: enqueued, claim: sumOf([claimed, ...repeated]), heartbeat, settle: settled };
  } finally {
    await waybill.close();
    meter.close();
  }
}

const nothing: NonNullable<Variation['more']> = () => ({});

type Each = <T>(list: readonly T[], work: (one: T, index: number) => Promise<void>) => Promise<void>;

const allAtOnce: Each = async (list, work) => {
  await Promise.all(list.map(work));
};

const oneByOne: Each = async (list, work) => {
  for (const [index, one] of list.entries()) await work(one, index);
};

async function beat(waybill: Waybill, leases: readonly Lease[]): Promise<void> {
  for (let from = 0; from < leases.length; from += PER_CLAIM) {
    const jobs = leases.slice(from, from + PER_CLAIM).map(({ job: { id }, token }) => ({ id, leaseToken: token }));
    const { lost } = await waybill.jobs.heartbeat({ workerId: WORKER, jobs });
    mustBe('leases lost', lost.length, 0);
  }
}

/** Measured for so many seconds, and multiplied. */
async function ofAnHour(place: Place, seconds: number): Promise<Units> {
  const meter = await metered(place, `bench-${randomUUID()}`);
  const waybill = engine(meter.parts);
  const done = Promise.withResolvers<void>();
  const tasks = [taskOf(TYPE, { queue: QUEUE, run: async () => done.resolve() })];
  const worker = new Worker({ jobs: waybill.jobs, tasks }).start();
  try {
    await waybill.jobs.enqueue({ type: TYPE, args: [ARGS], options: { queue: QUEUE } });
    await done.promise;
    await sleep(SETTLING_S * 1_000);
    return await meter.per(seconds / HOUR_S, () => sleep(seconds * 1_000));
  } finally {
    await worker.stop();
    await waybill.close();
    meter.close();
  }
}
