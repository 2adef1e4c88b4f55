import { Fields, isObject } from '../check.ts';
import type { Clock } from '../clock.ts';
import type { Writer } from '../commit/writer.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { sequence } from '../job/rank.ts';
import type { JsonObject } from '../json.ts';
import type { CronRecord } from '../store/crons.ts';
import type { InsertAnswer, InsertGroup, NewJob } from '../store/insert.ts';
import type { Transaction } from '../store/transaction.ts';
import type { EnqueueContext, Jobs } from '../waybill.ts';
import { Candidate } from './candidate.ts';
import { checkEnvelope, checkPlain } from './envelope.ts';
import { newJob } from './new-job.ts';
import { chainsOf } from './unique-chain.ts';

/** Jobs in one call; more belong into several calls. */
export const MAX_BATCH = 1_000;

export const MAX_KEY_LENGTH = 255;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** Rounds in which others may keep taking our unique keys before we give up. */
const MAX_ROUNDS = 20;

/** What a job belongs to besides its queue. */
interface Placement {
  tenant: string;
  idempotencyKey?: string | null;
}

/** Defaults, validation and one insert. */
export class Enqueuer {
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #nextSeq = sequence();

  constructor(writer: Writer, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  readonly enqueue: Jobs['enqueue'] = async (request, context = {}) => {
    const placement = { tenant: tenantOf(context), idempotencyKey: checkKey(context) };
    const [answer] = await this.#insertAll([this.#candidate(request, placement, null)], context.within);
    return answer!;
  };

  readonly enqueueMany: Jobs['enqueueMany'] = async (requests, context = {}) => {
    if (requests.length === 0) throw invalidField('jobs', 'must have at least one item.');
    if (requests.length > MAX_BATCH)
      throw invalidField('jobs', `must have at most ${MAX_BATCH} items.`, { max: MAX_BATCH });
    const placement = { tenant: tenantOf(context) };
    const candidates = requests.map((request, index) => this.#candidate(request, placement, index));
    const answers = await this.#insertAll(candidates, context.within);
    return answers.map(({ job }) => job);
  };

  /** A new row that is not yet stored; for those who insert more than jobs alone. */
  make(request: unknown, tenant: string, workflow?: { id: string; node: string }): NewJob {
    const now = this.#clock.now();
    const birth = { tenant, now, seq: this.#nextSeq(now), idempotencyKey: null };
    return newJob(checkPlain(request, now), workflow ? { ...birth, workflow } : birth);
  }

  /** The job of a cron's tick; the tick is its idempotency key. */
  makeTick({ tenant, name, template }: CronRecord, tick: number): NewJob {
    const now = this.#clock.now();
    return newJob(checkEnvelope(ofCron(name, template, tick), now), {
      tenant,
      now,
      seq: this.#nextSeq(now),
      idempotencyKey: `cron:${name}:${tick}`,
    });
  }

  insert(group: InsertGroup, within?: Transaction): Promise<InsertAnswer> {
    return within ? this.#writer.insertWithin(group, within) : this.#writer.insert(group);
  }

  #candidate(request: unknown, { tenant, idempotencyKey = null }: Placement, index: number | null): Candidate {
    const now = this.#clock.now();
    const checked = at(index, () => checkEnvelope(request, now));
    const born = newJob(checked, { tenant, now, seq: this.#nextSeq(now), idempotencyKey });
    return new Candidate(born, checked.unique, index);
  }

  /** All or nothing. Where others own unique keys, all of these are decided about, and all jobs try again. */
  async #insertAll(
    candidates: readonly Candidate[],
    within: Transaction | undefined,
  ): Promise<{ job: Job; created: boolean }[]> {
    const chains = chainsOf(candidates);
    for (const chain of chains?.values() ?? []) if (chain.isShared) chain.decide(null, this.#clock.now());
    // A twin by idempotency key is met once by each of them at most.
    for (let round = 0; round < MAX_ROUNDS + candidates.length; round += 1) {
      const open = candidates.filter(({ isOpen }) => isOpen);
      if (open.length > 0) {
        const group = { jobs: open.map((candidate) => candidate.born) };
        const answer = await this.insert(group, within);
        if (answer.status === 'inserted')
          open.forEach((candidate, index) => {
            candidate.stored = answer.jobs[index]!;
          });
        else if (answer.status === 'closed' || answer.status === 'named')
          throw new WaybillError('internal', 'A plain insert joined a workflow.');
        else if (open[answer.index]!.isOurs(answer.job))
          for (const candidate of open) candidate.stored = candidate.born.job;
        else if (answer.status === 'taken') {
          for (const { index, job } of [answer, ...(answer.others ?? [])])
            chains!.get(open[index]!.rule!.key)!.decide(job, this.#clock.now());
          continue;
        } else open[answer.index]!.meetTwin(answer.status, answer.job);
      }
      if (candidates.every((candidate) => candidate.isSettled))
        return candidates.map((candidate) => candidate.answer());
    }
    throw new WaybillError('unavailable', 'Others keep taking the unique key of this job. Try again.');
  }
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

/** The job says in its meta which schedule made it, and for which moment, as the specification wants it. */
function ofCron(name: string, template: JsonObject, tick: number): JsonObject {
  const { meta } = template;
  const made = { cron_name: name, cron_triggered_at: new Date(tick).toISOString() };
  return { ...template, meta: { ...(isObject(meta) ? meta : {}), ...made } };
}

const tenantOf = ({ tenant = '' }: EnqueueContext): string => tenant;

function checkKey({ idempotencyKey }: EnqueueContext): string | null {
  if (idempotencyKey === undefined) return null;
  const key = new Fields({ idempotency_key: idempotencyKey }).requiredString('idempotency_key', {
    max: MAX_KEY_LENGTH,
  });
  if (!PRINTABLE.test(key)) throw invalidField('idempotency_key', 'must be printable ASCII.');
  return key;
}
