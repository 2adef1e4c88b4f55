import { Fields, isObject } from '../check.ts';
import type { Clock } from '../clock.ts';
import type { Writer } from '../commit/writer.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { NodeRules, Revision } from '../job/node-rules.ts';
import { sequence } from '../job/rank.ts';
import type { Json, JsonObject } from '../json.ts';
import { ruleInSpec } from '../limits/limit-options.ts';
import type { CronRecord } from '../store/crons.ts';
import type { InsertAnswer, InsertGroup, NewJob } from '../store/insert.ts';
import type { Transaction } from '../store/transaction.ts';
import type { EnqueueGuard } from '../tenants/enqueue-guard.ts';
import type { Transport } from '../transport/transport.ts';
import type { EnqueueContext, Jobs } from '../waybill.ts';
import { Candidate } from './candidate.ts';
import { type CheckedRequest, checkEnvelope, checkPlain } from './envelope.ts';
import { newJob } from './new-job.ts';
import { chainsOf } from './unique-chain.ts';

/** Jobs in one call; more belong into several calls. */
export const MAX_BATCH = 1_000;

export const MAX_KEY_LENGTH = 255;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** Begins the keys that the engine itself makes. No caller can name it: else a caller could take the place of a tick. */
const OWN_KEY = '§';

/** Rounds in which others may keep taking our unique keys before we give up. */
const MAX_ROUNDS = 20;

/** What a job belongs to besides its queue. */
interface Placement {
  tenant: string;
  idempotencyKey?: string | null;
}

export interface MapItem {
  /** Its name in the workflow. */
  node: string;
  item: Json;
  notBefore?: number;
}

/** Defaults, validation and one insert. */
export class Enqueuer {
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #guard: Pick<EnqueueGuard, 'check'>;
  readonly #transport: Pick<Transport, 'checkQueue'>;
  readonly #nextSeq = sequence();

  constructor(
    writer: Writer,
    { clock, guard, transport }: { clock: Clock; guard: Pick<EnqueueGuard, 'check'>; transport: Transport },
  ) {
    this.#writer = writer;
    this.#clock = clock;
    this.#guard = guard;
    this.#transport = transport;
  }

  readonly enqueue: Jobs['enqueue'] = async (request, context = {}) =>
    this.#enqueue(request, context, checkKey(context));

  /** For a message of a foreign producer, which names the job by a key of its own. */
  readonly adopt: Jobs['enqueue'] = async (request, context = {}) => {
    const key = checkKey(context);
    return this.#enqueue(request, context, key === null ? null : `${OWN_KEY}${key}`);
  };

  async #enqueue(request: unknown, context: EnqueueContext, idempotencyKey: string | null) {
    const placement = { tenant: tenantOf(context), idempotencyKey };
    const candidate = this.#candidate(request, placement, null);
    const checked = this.#guard.check(placement.tenant, 1, context.within);
    if (checked) await checked;
    if (this.#transport.checkQueue) await this.#checkQueues(placement.tenant, [candidate.born]);
    const [answer] = await this.#insertAll([candidate], context.within);
    return answer!;
  }

  readonly enqueueMany: Jobs['enqueueMany'] = async (requests, context = {}) => {
    if (requests.length === 0) throw invalidField('jobs', 'must have at least one item.');
    if (requests.length > MAX_BATCH)
      throw invalidField('jobs', `must have at most ${MAX_BATCH} items.`, { max: MAX_BATCH });
    const placement = { tenant: tenantOf(context) };
    const candidates = requests.map((request, index) => this.#candidate(request, placement, index));
    const checked = this.#guard.check(placement.tenant, candidates.length, context.within);
    if (checked) await checked;
    if (this.#transport.checkQueue)
      await this.#checkQueues(
        placement.tenant,
        candidates.map(({ born }) => born),
      );
    const answers = await this.#insertAll(candidates, context.within);
    context.onCreated?.(new Set(answers.filter(({ created }) => created).map(({ job }) => job.id)));
    return answers.map(({ job }) => job);
  };

  /** A new row that is not yet stored; for those who insert more than jobs alone. */
  make(request: unknown, tenant: string, workflow?: { id: string; node: string; rules?: NodeRules }): NewJob {
    const now = this.#clock.now();
    const birth = { tenant, now, seq: this.#nextSeq(now), idempotencyKey: null };
    const checked = checkPlain(request, now);
    if (workflow?.rules) checked.spec = { ...checked.spec, rules: workflow.rules };
    return newJob(checked, workflow ? { ...birth, workflow } : birth);
  }

  /** A job of a map: like the map itself, with one item of the list as its first argument. */
  makeItem(map: Job, { node, item, notBefore }: MapItem): NewJob {
    const { rules: _, args, ...spec } = map.spec;
    const scheduledAt = notBefore ?? map.scheduledAt;
    return this.#makeLike(map, { node, scheduledAt, spec: { ...spec, args: [item, ...args] } });
  }

  /** The next iteration of a reviewed node: the same job, with what the reviewer asked for. */
  makeRevision(gate: Job, { node, revision }: { node: string; revision: Revision }): NewJob {
    return this.#makeLike(gate, { node, scheduledAt: null, spec: { ...gate.spec, rules: { revision } } });
  }

  /** A further node of the workflow of this one, with the same options. */
  #makeLike(like: Job, { node, scheduledAt, spec }: Pick<CheckedRequest, 'scheduledAt' | 'spec'> & { node: string }) {
    const now = this.#clock.now();
    const { tenant, workflowId, expiresAt, priority, queue, timeoutMs, type, visibilityMs } = like;
    const request: CheckedRequest = {
      ...{ id: undefined, type, queue, priority, timeoutMs, visibilityMs, expiresAt },
      ...{ scheduledAt, pending: false, maxAttempts: like.maxAttempts, unique: null },
      limit: like.limitKey === null ? null : { key: like.limitKey, rule: ruleInSpec(spec) },
      spec,
    };
    const workflow = { id: workflowId!, node };
    return newJob(request, { tenant, now, seq: this.#nextSeq(now), idempotencyKey: null, workflow });
  }

  /** The job of a cron's tick; the tick is its idempotency key. */
  makeTick({ tenant, name, template }: CronRecord, tick: number): NewJob {
    const now = this.#clock.now();
    return newJob(checkEnvelope(ofCron(name, template, tick), now), {
      tenant,
      now,
      seq: this.#nextSeq(now),
      idempotencyKey: `${OWN_KEY}cron:${name}:${tick}`,
    });
  }

  /** Jobs of a workflow, which the limits of the tenant may refuse. */
  async insertFlow(group: InsertGroup, within?: Transaction): Promise<InsertAnswer> {
    const [first] = group.jobs;
    if (first) await this.#guard.check(first.job.tenant, group.jobs.length, within);
    if (first && this.#transport.checkQueue) {
      // What waits for a signal is given to no worker, so its queue need not be there.
      const worked = group.jobs.filter(({ job }) => !job.spec.rules?.signal);
      await this.#checkQueues(first.job.tenant, worked);
    }
    return this.#insert(group, within);
  }

  async #checkQueues(tenant: string, made: readonly NewJob[]): Promise<void> {
    const queues = new Set(made.map(({ job }) => job.queue));
    await Promise.all([...queues].map((queue) => this.#transport.checkQueue!(tenant, queue)));
  }

  #insert(group: InsertGroup, within?: Transaction): Promise<InsertAnswer> {
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
        const answer = await this.#insert(group, within);
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
