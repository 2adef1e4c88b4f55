import type { Job } from '../job/job.ts';
import type { WorkerInfo } from '../store/workers.ts';
import type { Reason } from './explanation.ts';
import { type Family, type Situation, someJobs, timeOf } from './situation.ts';
import { isLive, LIVE_MS } from './worker-life.ts';

/** How many jobs of the queue are read to find a worker that has run one of them, or to find a place in line. */
const READ = 200;

/** Who could run a job that is ready. */
export const workers: Family = {
  what: 'The workers',
  of: async (situation) => {
    const { job, now, store } = situation;
    if (job.state !== 'available') return [];
    const known = await store.workers.list(job.tenant);
    const live = known.filter((worker) => isLive(worker, now));
    if (live.length === 0) return (await hasRun(situation)) ? [] : [none(situation, known)];
    const open = live.filter(({ directive }) => directive === 'running');
    if (open.length === 0)
      return [
        {
          code: 'workers_stopped',
          message: `All ${live.length} live workers were told to take no further jobs.`,
          hint: 'Let one go on: POST /ojs/v1/workers/ID/directive with {"directive":"running"}',
          details: { live: live.length },
        },
      ];
    return (await servesQueue(situation, open)) ? [] : [elsewhere(situation, open.length)];
  },
};

/** Where nothing else keeps it: its place in line. */
export async function turn({ job, store }: Situation): Promise<Reason> {
  const filter = { tenant: job.tenant, queues: [job.queue], states: ['available'] } as const;
  const { items, cursor } = await store.list({ filter, limit: READ });
  const ahead = items.filter(({ rank }) => rank !== null && job.rank !== null && rank < job.rank).length;
  const least = cursor === undefined ? '' : 'at least ';
  const place = ahead === 0 ? 'It is ready' : `It is ready, and ${least}${ahead} of its queue come before it`;
  return {
    code: 'turn',
    message: `${place}. A worker takes it with a next claim; jobs of queues that the worker names before '${job.queue}' go first.`,
    ...(ahead > 0 && { hint: `To see the queue: waybill queues show ${job.queue}` }),
    details: { ahead, exact: cursor === undefined },
  };
}

const START = ({ job: { queue } }: Situation): string => `Start one: waybill work MODULE --queues ${queue}`;

function none(situation: Situation, known: readonly WorkerInfo[]): Reason {
  const last = known.reduce((newest, { lastSeenAt }) => Math.max(newest, lastSeenAt), 0);
  const seen = known.length === 0 ? 'none was ever seen' : `the last one was seen at ${timeOf(last)}`;
  return {
    code: 'no_worker',
    message: `No worker has sent a heartbeat for ${LIVE_MS / 1_000} seconds: ${seen}.`,
    hint: START(situation),
    details: { workers: known.length, ...(known.length > 0 && { last_seen_at: timeOf(last) }) },
  };
}

/** A run under way shows that there is a worker, also one that sends no heartbeats. */
async function hasRun({ job: { tenant, queue }, now, store }: Situation): Promise<boolean> {
  const filter = { tenant, queues: [queue], states: ['active'] } as const;
  const test = ({ leaseUntil }: Job) => leaseUntil !== null && leaseUntil > now;
  return (await someJobs(store, filter, { wanted: 1, test })).length > 0;
}

/** A worker does not say which queues it takes jobs of, so this goes by the jobs that it has taken. */
async function servesQueue({ job, store }: Situation, open: readonly WorkerInfo[]): Promise<boolean> {
  const ids = new Set(open.map(({ id }) => id));
  const test = ({ workerId }: Job) => workerId !== null && ids.has(workerId);
  const filter = { tenant: job.tenant, queues: [job.queue] };
  const active = await someJobs(store, { ...filter, states: ['active'] }, { wanted: 1, test });
  return active.length > 0 || (await someJobs(store, filter, { wanted: 1, test })).length > 0;
}

const elsewhere = (situation: Situation, live: number): Reason => ({
  code: 'no_worker_for_queue',
  message: `${live === 1 ? 'One worker is' : `${live} workers are`} live, and none is known to have taken a job of the queue '${situation.job.queue}' lately.`,
  hint: START(situation),
  details: { live, queue: situation.job.queue },
});
