import { WaybillError } from '../errors.ts';
import type { Transition } from '../job/evolve.ts';
import type { Job } from '../job/job.ts';
import { type Command, transition } from '../job/transition.ts';
import type { ApplyAnswer, Change, Expectation } from '../store/apply.ts';
import type { JobKey } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { GroupCommit } from './group-commit.ts';

/** Rounds of read, decide and compare-and-set before we give up on a row that others keep changing. */
const MAX_ROUNDS = 20;

/**
 * Reads and compare-and-sets single rows, coalesced into batches. Everything that changes a row after its insert
 * goes through here, so that nothing forgets the limit slot or the sweep's alarm.
 */
export class RowWriter {
  readonly #clock: Store['clock'];
  readonly #gets: GroupCommit<JobKey, Job | null>;
  readonly #applies: GroupCommit<Change, ApplyAnswer>;

  /** `onWritten` is told once of all that went in together. */
  constructor(store: Store, onWritten: (jobs: readonly Job[]) => void) {
    const { maxBatch: maxItems, parallelFlushes: parallel } = store.capabilities;
    this.#clock = store.clock;
    this.#gets = new GroupCommit({ flush: (keys) => store.get(keys), maxItems, parallel });
    const flush = async (changes: Change[]): Promise<ApplyAnswer[]> => {
      const answers = await store.apply(changes);
      const written: Job[] = [];
      answers.forEach((answer, index) => {
        if (answer.status === 'applied' && !answer.repeated) written.push(changes[index]!.job, ...answer.admitted);
      });
      if (written.length > 0) onWritten(written);
      return answers;
    };
    this.#applies = new GroupCommit({ flush, maxItems, parallel });
  }

  read(key: JobKey): Promise<Job | null> {
    return this.#gets.run(key);
  }

  async mustRead(key: JobKey): Promise<Job> {
    const job = await this.read(key);
    if (job === null) throw jobNotFound(key.id);
    return job;
  }

  write(before: Job, expect: Expectation, after: Transition, ownsKey = false): Promise<ApplyAnswer> {
    const change = changeOf(before, expect, after);
    return this.#applies.run(ownsKey ? { ...change, ownsKey } : change);
  }

  /** Reads, decides and writes until nobody came in between. `refuse` makes the error for a row in a wrong state. */
  async change(key: JobKey, command: Command, refuse: (job: Job) => WaybillError): Promise<Job> {
    let mine: Job | undefined;
    let before: Job | undefined;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const job = await this.mustRead(key);
      if (mine && isSame(job, mine)) return job;
      if (before && isSame(job, before) && revives(command)) throw keyTaken(job);
      before = job;
      const after = transition(job, command, this.#clock.now());
      if (after === null) throw refuse(job);
      const answer = await this.write(job, seen(job), after, job.uniqueKey !== null && revives(command));
      if (answer.status === 'applied') return after.job;
      mine = after.job;
    }
    throw new WaybillError('unavailable', `Job ${key.id} is being changed by others all the time. Try again.`);
  }

  async idle(): Promise<void> {
    await Promise.all([this.#gets.idle(), this.#applies.idle()]);
  }
}

/** A finished job that comes back to life must still own its unique key. */
const revives = (command: Command): boolean => command.do === 'replay' || command.do === 'reinstate';

const keyTaken = (job: Job): WaybillError =>
  new WaybillError('duplicate', `Another job has taken over the unique key of job ${job.id}.`, {
    details: { job_id: job.id },
  });

/** The change went in although its answer got lost, and the repetition found it done. */
const isSame = (found: Job, mine: Job): boolean =>
  found.version === mine.version && found.state === mine.state && found.finishedAt === mine.finishedAt;

export const jobNotFound = (id: string): WaybillError =>
  new WaybillError('not_found', `There is no job ${id}.`, {
    details: { job_id: id },
    hint: 'Check the id; finished jobs are removed after the retention time.',
  });

export const wrongState = (job: Job, wanted: string): WaybillError =>
  new WaybillError('conflict', `Job ${job.id} is ${job.state}; ${wanted}.`, {
    details: { job_id: job.id, state: job.state },
  });

/** Nobody wrote since this row was read. */
export const seen = ({ version, nextAt, holdsSlot }: Job): Expectation => ({
  by: 'version',
  version,
  nextAt,
  holdsSlot,
});

export function changeOf(before: Job, expect: Expectation, { job, events }: Transition): Change {
  const slot = slotMove(before, job);
  return slot === undefined ? { expect, job, events } : { expect, job, events, slot };
}

/** What a change means for the limit that the job obeys. */
function slotMove(before: Job, after: Job): Change['slot'] {
  if (after.limitKey === null) return undefined;
  if (after.state === 'available' && !after.holdsSlot) return 'request';
  return before.holdsSlot && !after.holdsSlot ? 'release' : undefined;
}
