import type { JobPayloads } from '../blobs/job-payloads.ts';
import { jobNotFound } from '../commit/row-change.ts';
import { isJobId } from '../job/id.ts';
import type { Job } from '../job/job.ts';
import { reasonOf } from '../maintenance/failing-items.ts';
import { checkId } from '../read-query.ts';
import type { QueueStats } from '../store/queues.ts';
import type { Store } from '../store/store.ts';
import { damage, unreadable } from './damage.ts';
import { ended } from './ended.ts';
import type { Explanation, Reason } from './explanation.ts';
import { limit, tenantLimit } from './limits.ts';
import { queue } from './queue.ts';
import { running } from './running.ts';
import { COUNTED_AT_MOST, type Family, type Situation } from './situation.ts';
import { overdue, waiting } from './waiting.ts';
import { turn, workers } from './workers.ts';
import { workflow } from './workflow.ts';

/** In the order in which they are told. A further kind of reason is a file with a family, a line here, and its codes. */
const FAMILIES: readonly Family[] = [
  ...[ended, running, waiting, overdue, damage],
  ...[queue, limit, tenantLimit, workflow, workers],
];

interface ExplainParts {
  /** With payloads opened, to know whether they are there. */
  store: Pick<Store, 'get'>;
  /** As it is stored. */
  rows: Store;
  payloads?: Pick<JobPayloads, 'lackOf'> | undefined;
  unknownType(job: Job): Situation['unknownType'];
}

/** Reads only, and only when it is asked: a job that is never explained pays nothing. */
export async function explain(parts: ExplainParts, tenant: string, id: string): Promise<Explanation> {
  checkId(id);
  const { rows } = parts;
  const at = rows.clock.now();
  const read = await readJob(parts, tenant, id);
  if (read === null) return { jobId: id, state: null, at, reasons: [unreadable()] };
  const situation = situationOf(parts, read, at);
  const found = await Promise.all(FAMILIES.map((family) => looked(family, situation)));
  const reasons = found.flat();
  return {
    ...{ jobId: id, state: read.state, at },
    reasons: reasons.length > 0 ? reasons : [await turn(situation)],
  };
}

function situationOf({ rows, payloads, unknownType }: ExplainParts, job: Job, now: number): Situation {
  let stats: Promise<QueueStats | null> | undefined;
  return {
    ...{ job, now, store: rows, lack: payloads?.lackOf(job), unknownType: unknownType(job) },
    queue: () => {
      stats ??= rows.queues.stats(job.tenant, job.queue, { atMost: COUNTED_AT_MOST });
      return stats;
    },
  };
}

/** One thing that cannot be read, such as a damaged limit, does not hide the other reasons. */
async function looked({ what, of }: Family, situation: Situation): Promise<Reason[]> {
  try {
    return await of(situation);
  } catch (error) {
    return [{ code: 'unchecked', message: `${what} could not be looked at. ${reasonOf(error)}`, details: {} }];
  }
}

/** Null: there is such a row, and it cannot be read. */
async function readJob({ store, rows }: ExplainParts, tenant: string, id: string): Promise<Job | null> {
  try {
    const [job] = await store.get([{ tenant, id }]);
    if (job) return job;
  } catch (error) {
    if (isJobId(id)) {
      const { unreadable: found } = await rows.list({ filter: { tenant, idPrefix: id }, limit: 1 });
      if (found?.includes(id)) return null;
    }
    throw error;
  }
  throw jobNotFound(id);
}
