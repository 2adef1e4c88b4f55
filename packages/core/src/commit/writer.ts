import { isDeepStrictEqual } from 'node:util';
import { WaybillError } from '../errors.ts';
import type { Told } from '../events/subject-event.ts';
import { queueKept, queueLimited, queuePaused } from '../events/told.ts';
import type { Job } from '../job/job.ts';
import { withReminder } from '../job/next-at.ts';
import { type Command, transition } from '../job/transition.ts';
import type { LimitRule } from '../limits/limit.ts';
import { checkId } from '../read-query.ts';
import type { ApplyAnswer, Change, Expectation } from '../store/apply.ts';
import type { FireAnswer, FireRequest } from '../store/crons.ts';
import type { InsertAnswer, InsertGroup, NewJob } from '../store/insert.ts';
import type { WriteOptions } from '../store/lock-held.ts';
import type { DueAnswer, DueQuery, JobKey } from '../store/query.ts';
import type { QueueInfo, QueueKeep } from '../store/queues.ts';
import type { Store } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import { storeWithin } from '../store/within.ts';
import type { MoveAnswer, MoveRequest } from '../store/workflows.ts';
import type { Transport } from '../transport/transport.ts';
import type { FollowUp } from './follow-up.ts';
import { GroupCommit } from './group-commit.ts';
import { insertHandingOver } from './hand-over.ts';
import { changeOf, jobNotFound, seen, type Written } from './row-change.ts';
import { WriteLanes } from './write-lanes.ts';

/** Rounds of read, decide and compare-and-set before we give up on a row that others keep changing. */
const MAX_ROUNDS = 20;

interface WriterParts {
  store: Store;
  transport: Transport;
  followUp: FollowUp;
}

/** Rows as one caller's transaction sees and writes them. */
export type RowsWithin = Pick<Writer, 'read' | 'write'>;

/**
 * Every write that makes or moves a job goes through here, so that nothing forgets what belongs to it: the reminder that
 * the row carries where hints may get lost, and all that follows the write.
 */
export class Writer {
  readonly #store: Store;
  readonly #followUp: FollowUp;
  readonly #lanes: WriteLanes;
  readonly #gets: GroupCommit<JobKey, Job | null>;

  constructor({ store, transport, followUp }: WriterParts) {
    const { maxBatch: maxItems, parallelFlushes: parallel } = store.capabilities;
    this.#store = store;
    this.#followUp = followUp;
    this.#lanes = new WriteLanes(store, {
      insert: insertHandingOver(store, transport),
      apply: (changes, options) => this.#apply(changes, options),
    });
    this.#gets = new GroupCommit({ flush: (keys) => store.get(keys), maxItems, parallel });
  }

  async insert(group: InsertGroup): Promise<InsertAnswer> {
    const answer = await this.#lanes.insert(this.#remindedGroup(group));
    if (answer.status !== 'inserted') return answer;
    for (const { unique } of group.jobs) if (unique?.replace) this.#followUp.changes([unique.replace], []);
    this.#followUp.made(answer.jobs, answer.admitted);
    return answer;
  }

  /** By itself, since no other call may share its fate. Nothing follows: only the caller learns whether it commits. */
  async insertWithin(group: InsertGroup, within: Transaction): Promise<InsertAnswer> {
    const [answer] = await storeWithin(this.#store, within).insert([this.#remindedGroup(group)]);
    return answer!;
  }

  read(key: JobKey): Promise<Job | null> {
    return this.#gets.run(key);
  }

  async mustRead(key: JobKey): Promise<Job> {
    checkId(key.id);
    const job = await this.read(key);
    if (job === null) throw jobNotFound(key.id);
    return job;
  }

  /** One row, together with whatever else is written at this moment. */
  write(before: Job, expect: Expectation, after: Written, ownsKey = false): Promise<ApplyAnswer> {
    const change = changeOf(before, expect, after);
    return this.#lanes.apply(ownsKey ? { ...change, ownsKey } : change);
  }

  /** Rows as the caller's transaction sees them. Nothing follows: only the caller learns whether it commits. */
  within(transaction: Transaction): RowsWithin {
    const store = storeWithin(this.#store, transaction);
    return {
      read: async (key) => (await store.get([key]))[0] ?? null,
      write: async (before, expect, after) =>
        (await store.apply([this.#reminded(changeOf(before, expect, after))]))[0]!,
    };
  }

  /** Reads, decides and writes until nobody came in between. `refuse` makes the error for a row in a wrong state. */
  async change(key: JobKey, command: Command, refuse: (job: Job) => WaybillError): Promise<Job> {
    let mine: Job | undefined;
    let before: Job | undefined;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const job = await this.mustRead(key);
      if (mine && isSame(job, mine)) return job;
      if (before && job.uniqueKey !== null && revives(command) && isUnchanged(job, before)) throw keyTaken(job);
      before = job;
      const after = transition(job, command, this.#store.clock.now());
      if (after === null) throw refuse(job);
      const answer = await this.write(job, seen(job), after, job.uniqueKey !== null && revives(command));
      if (answer.status === 'applied') return after.job;
      mine = after.job;
    }
    throw new WaybillError('unavailable', `Job ${key.id} is being changed by others all the time. Try again.`);
  }

  /** A batch of its own, for whoever has decided about many rows. */
  apply(changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]> {
    return this.#inBatches(changes, (some) => this.#apply(some, options));
  }

  /** Rows that wait on for a claim: their next reminder is written, and they are hinted at again. */
  remind(changes: readonly Change[]): Promise<ApplyAnswer[]> {
    return this.#inBatches(changes, async (some) => {
      const sent = some.map((change) => this.#reminded(change));
      const answers = await this.#store.apply(sent);
      this.#followUp.unclaimed(writtenOf(sent, answers).map(({ job }) => job));
      this.#followUp.rows(answers.flatMap((answer) => (answer.status === 'applied' ? answer.admitted : [])));
      return answers;
    });
  }

  /** Rows that the sweep looks at later. Nothing else follows: whatever is to be done for them has just failed. */
  async putOff(change: Change): Promise<boolean> {
    const answers = await this.#store.apply([change]);
    const written = writtenOf([change], answers);
    this.#followUp.putOff(written.map(({ job }) => job));
    return written.length > 0;
  }

  async fire({ job, ...request }: FireRequest): Promise<FireAnswer> {
    const answer = await this.#store.crons.fire(job ? { ...request, job: this.#reminded(job) } : request);
    if (answer.status === 'fired') {
      this.#followUp.made(answer.jobs, answer.admitted);
      this.#followUp.reported();
    }
    return answer;
  }

  async move({ jobs, ...request }: MoveRequest): Promise<MoveAnswer> {
    const answer = await this.#store.workflows.move({ ...request, jobs: jobs.map((job) => this.#reminded(job)) });
    if (answer.status === 'moved') {
      this.#followUp.made(answer.jobs, answer.admitted);
      this.#followUp.reported();
    }
    return answer;
  }

  async due(query: DueQuery): Promise<DueAnswer> {
    const answer = await this.#store.due(query);
    this.#followUp.rows(answer.admitted);
    return answer;
  }

  async setLimit(tenant: string, key: string, rule: LimitRule): Promise<void> {
    const { admitted } = await this.#store.limits.set(tenant, key, rule, this.#store.clock.now());
    this.#followUp.rows(admitted);
  }

  async setPaused(tenant: string, queue: string, paused: boolean, by?: string): Promise<QueueInfo> {
    const told = queuePaused(queue, paused, { tenant, at: this.#store.clock.now(), by });
    const info = await this.#store.queues.setPaused(tenant, queue, paused, told);
    if (!paused) this.#followUp.opened(tenant, queue);
    this.#followUp.reported();
    return info;
  }

  async setQueueLimit(tenant: string, queue: string, limit: LimitRule | null): Promise<QueueInfo> {
    const told = queueLimited(queue, limit, { tenant, at: this.#store.clock.now() });
    const info = await this.#store.queues.setLimit(tenant, queue, limit, told);
    this.#followUp.reported();
    return info;
  }

  async setKeep(tenant: string, queue: string, keep: QueueKeep): Promise<QueueInfo> {
    const told = queueKept(queue, keep, { tenant, at: this.#store.clock.now() });
    const info = await this.#store.queues.setKeep(tenant, queue, keep, told);
    this.#followUp.reported();
    return info;
  }

  /** Facts that are about no change. */
  async tell(told: readonly Told[]): Promise<void> {
    await this.#store.events.tell(told);
    this.#followUp.reported();
  }

  async idle(): Promise<void> {
    await Promise.all([this.#lanes.idle(), this.#gets.idle()]);
  }

  /** As many rows at a time as the store takes. */
  async #inBatches(
    changes: readonly Change[],
    write: (some: readonly Change[]) => Promise<ApplyAnswer[]>,
  ): Promise<ApplyAnswer[]> {
    const answers: ApplyAnswer[] = [];
    const { maxBatch } = this.#store.capabilities;
    for (let from = 0; from < changes.length; from += maxBatch) {
      answers.push(...(await write(changes.slice(from, from + maxBatch))));
    }
    return answers;
  }

  async #apply(changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]> {
    const sent = this.#followUp.isHinted ? changes.map((change) => this.#reminded(change)) : changes;
    const answers = await this.#store.apply(sent, options);
    const written: Change[] = [];
    const admitted: Job[] = [];
    answers.forEach((answer, index) => {
      if (answer.status !== 'applied' || answer.repeated) return;
      written.push(sent[index]!);
      admitted.push(...answer.admitted);
    });
    if (written.length > 0) this.#followUp.changes(written, admitted);
    return answers;
  }

  #remindedGroup(group: InsertGroup): InsertGroup {
    if (!this.#followUp.isHinted) return group;
    return { ...group, jobs: group.jobs.map((job) => this.#reminded(job)) };
  }

  /** Where hints may get lost, a row that begins to wait for a claim says when to look whether its hint came through. */
  #reminded<T extends NewJob | Change>(one: T): T {
    if (!this.#followUp.isHinted) return one;
    return { ...one, job: withReminder(one.job, this.#store.clock.now()) };
  }
}

const writtenOf = (changes: readonly Change[], answers: readonly ApplyAnswer[]): Change[] =>
  changes.filter((_, index) => answers[index]!.status === 'applied');

/** A finished job that comes back to life must still own its unique key. */
const revives = (command: Command): boolean => command.do === 'replay' || command.do === 'reinstate';

const keyTaken = (job: Job): WaybillError =>
  new WaybillError('duplicate', `Another job has taken over the unique key of job ${job.id}.`, {
    details: { job_id: job.id },
  });

/** Also when the engine looks at it next, which changes without a new version: a change of the row is refused for that, too. */
const isUnchanged = (found: Job, before: Job): boolean => isDeepStrictEqual(seen(found), seen(before));

/** The change went in although its answer got lost, and the repetition found it done. */
const isSame = (found: Job, mine: Job): boolean =>
  found.version === mine.version &&
  found.state === mine.state &&
  found.finishedAt === mine.finishedAt &&
  // What a gate was told: another server may have told it something else.
  isDeepStrictEqual(found.result, mine.result);
