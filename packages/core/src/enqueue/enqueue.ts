import { Fields } from '../check.ts';
import { GroupCommit } from '../commit/group-commit.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { sequence } from '../job/rank.ts';
import type { InsertAnswer, InsertGroup } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import type { EnqueueContext, Jobs } from '../waybill.ts';
import { checkEnvelope } from './envelope.ts';
import { newJob } from './new-job.ts';

/** Jobs in one call; more belong into several calls. */
export const MAX_BATCH = 1_000;

const MAX_KEY_LENGTH = 255;

/** Defaults, validation and one insert, coalesced with whatever else is being enqueued. */
export class Enqueuer {
  readonly #store: Store;
  readonly #inserts: GroupCommit<InsertGroup, InsertAnswer>;
  readonly #nextSeq = sequence();
  readonly #onInserted: (jobs: readonly Job[]) => void;

  constructor(store: Store, onInserted: (jobs: readonly Job[]) => void) {
    const { maxBatch: maxItems, parallelFlushes: parallel } = store.capabilities;
    this.#store = store;
    this.#onInserted = onInserted;
    this.#inserts = new GroupCommit({ flush: (groups) => store.insert(groups), maxItems, parallel, sizeOf: groupSize });
  }

  readonly enqueue: Jobs['enqueue'] = async (request, context = {}) => {
    const idempotencyKey = checkKey(context);
    const [group, answer] = await this.#insert([request], context.tenant ?? '', { idempotencyKey, isBatch: false });
    if (answer.status === 'inserted') return { job: answer.jobs[0]!, created: true };
    if (isOurs(group, answer)) return { job: answer.job, created: true };
    if (answer.status === 'repeated') return { job: answer.job, created: false };
    throw duplicate(answer.job);
  };

  readonly enqueueMany: Jobs['enqueueMany'] = async (requests, context = {}) => {
    if (requests.length === 0) throw invalidField('jobs', 'must have at least one item.');
    if (requests.length > MAX_BATCH)
      throw invalidField('jobs', `must have at most ${MAX_BATCH} items.`, { max: MAX_BATCH });
    const [group, answer] = await this.#insert(requests, context.tenant ?? '', { idempotencyKey: null, isBatch: true });
    if (answer.status === 'inserted') return answer.jobs;
    // All or nothing: if one row of this very call is there, all of them are.
    if (isOurs(group, answer)) return group.jobs.map(({ job }) => job);
    throw duplicate(answer.job, answer.index);
  };

  idle(): Promise<void> {
    return this.#inserts.idle();
  }

  async #insert(requests: readonly unknown[], tenant: string, { idempotencyKey, isBatch }: Manner) {
    const now = this.#store.clock.now();
    const jobs = requests.map((request, index) => {
      const checked = at(isBatch ? index : null, () => checkEnvelope(request, now));
      return newJob(checked, { tenant, now, seq: this.#nextSeq(now), idempotencyKey });
    });
    const group = { jobs };
    const answer = await this.#inserts.run(group);
    this.#onInserted(answer.status === 'inserted' ? answer.jobs : []);
    return [group, answer] as const;
  }
}

interface Manner {
  idempotencyKey: string | null;
  isBatch: boolean;
}

/** Names the item of a batch in the refusal of its field. */
function at<T>(index: number | null, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (index === null || !(error instanceof WaybillError)) throw error;
    const details = { ...error.details, index };
    throw new WaybillError(error.code, `jobs[${index}]: ${error.message}`, { details });
  }
}

function checkKey({ idempotencyKey }: EnqueueContext): string | null {
  if (idempotencyKey === undefined) return null;
  return new Fields({ idempotency_key: idempotencyKey }).requiredString('idempotency_key', { max: MAX_KEY_LENGTH });
}

/** The insert was tried again after its answer got lost: the row that is there is the one we wrote. */
function isOurs(group: InsertGroup, answer: Exclude<InsertAnswer, { status: 'inserted' }>): boolean {
  const mine = group.jobs[answer.index]!.job;
  return mine.id === answer.job.id && mine.seq === answer.job.seq && mine.createdAt === answer.job.createdAt;
}

function duplicate(existing: Job, index?: number): WaybillError {
  const details = { existing_job_id: existing.id, ...(index === undefined ? {} : { index }) };
  return new WaybillError('duplicate', `There is already a job ${existing.id}.`, { details });
}

const BYTES_PER_JOB = 512;

/** Rough on purpose: the lengths of the strings that dominate a row. */
function groupSize(group: InsertGroup): number {
  return group.jobs.reduce((sum, { job }) => sum + BYTES_PER_JOB + roughSize(job.spec.args), 0);
}

function roughSize(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > 8) return 8;
  let sum = 8;
  for (const item of Object.values(value)) sum += roughSize(item, depth + 1);
  return sum;
}
