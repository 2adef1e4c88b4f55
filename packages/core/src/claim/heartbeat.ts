import type { FollowUp } from '../commit/follow-up.ts';
import { GroupCommit } from '../commit/group-commit.ts';
import { invalidField } from '../errors.ts';
import { workerStarted } from '../events/told.ts';
import { type LeaseToken, parseToken } from '../job/lease.ts';
import type { Logger } from '../logger.ts';
import type { EngineObserver } from '../observer.ts';
import { checkId } from '../read-query.ts';
import type { ExtendAnswer, ExtendRequest } from '../store/extend.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { HeartbeatAnswer, HeartbeatCall } from '../waybill.ts';
import { MAX_CLAIM } from './claimer.ts';
import { checkWorkerId } from './worker-id.ts';

interface HeartbeatParts {
  store: Store;
  followUp: FollowUp;
  transport: Transport;
  logger: Logger;
  /** Told for metrics. */
  observer?: EngineObserver | undefined;
}

interface ExtendCall {
  tenant: string;
  id: string;
  /** Null: it was no token at all. */
  token: LeaseToken | null | undefined;
  workerId: string | undefined;
  leaseMs: number | null;
  /** @defaultValue false */
  isTold?: boolean;
}

/** Keeps leases alive and tells workers what to do. A lease that is gone is listed, never revived. */
export class Heartbeats {
  readonly #parts: HeartbeatParts;
  readonly #extends: GroupCommit<ExtendRequest, ExtendAnswer>;

  constructor(parts: HeartbeatParts) {
    const { maxBatch: maxItems, parallelFlushes: parallel } = parts.store.capabilities;
    this.#parts = parts;
    this.#extends = new GroupCommit({ flush: (requests) => this.#extendAll(requests), maxItems, parallel });
  }

  async beat({
    tenant = '',
    workerId,
    instance,
    jobs,
    leaseMs,
    strict = false,
  }: HeartbeatCall): Promise<HeartbeatAnswer> {
    checkWorkerId(workerId);
    if (instance !== undefined) checkWorkerId(instance, 'instance');
    if (!Array.isArray(jobs)) throw invalidField('active_jobs', 'must be a list.');
    if (jobs.length > MAX_CLAIM) throw invalidField('active_jobs', `must have at most ${MAX_CLAIM} items.`);
    for (const { id } of jobs) checkId(id, 'active_jobs.id');
    const { store } = this.#parts;
    const now = store.clock.now();
    const runs = jobs.map(({ id, leaseToken }) => ({
      id,
      token: leaseToken === undefined ? undefined : tryParse(leaseToken),
    }));
    const beat = () =>
      store.workers.beat({
        ...{ tenant, id: workerId, activeJobs: jobs.length, now, ...(instance !== undefined && { instance }) },
        told: workerStarted(workerId, jobs.length, { tenant, at: now }),
      });
    const extending = Promise.all(
      runs.map((run) => this.extend({ tenant, ...run, workerId, leaseMs: leaseMs ?? null, isTold: true })),
    );
    // A strict call is about its jobs alone. Refused for all of them it changes nothing, so its worker is not noted either.
    const isRefused = strict && (await extending).every(({ status }) => status !== 'extended');
    const [directive, answers] = await Promise.all([isRefused ? ('running' as const) : beat(), extending]);
    const extended = answers.flatMap((answer, index) =>
      answer.status === 'extended' ? [{ id: runs[index]!.id, leaseUntil: answer.leaseUntil }] : [],
    );
    this.#parts.followUp.reported();
    const alive = new Set(extended.map(({ id }) => id));
    return { directive, extended, lost: jobs.map(({ id }) => id).filter((id) => !alive.has(id)), now };
  }

  idle(): Promise<void> {
    return this.#extends.idle();
  }

  async extend({ tenant, id, token, workerId, leaseMs, isTold = false }: ExtendCall): Promise<ExtendAnswer> {
    if (token === null) return { status: 'lost' };
    const now = this.#parts.store.clock.now();
    const by = token ? { run: token.run, claimId: token.claimId } : workerId === undefined ? 'anyone' : { workerId };
    const answer = await this.#extends.run({ tenant, id, by, leaseMs, now, ...(isTold && { isTold }) });
    if (answer.status === 'extended' && token?.receipt !== undefined) {
      await this.#keepHidden({ tenant, jobId: id, queue: '', receipt: token.receipt }, answer.leaseUntil - now);
    }
    return answer;
  }

  async #extendAll(requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
    const { store, observer } = this.#parts;
    const answers = await store.extend(requests);
    if (observer?.extended) {
      const extended = answers.filter(({ status }) => status === 'extended').length;
      observer.extended({ extended, lost: answers.length - extended });
    }
    return answers;
  }

  async #keepHidden(delivery: Parameters<Transport['extend']>[0], ms: number): Promise<void> {
    try {
      await this.#parts.transport.extend(delivery, ms);
    } catch (error) {
      this.#parts.logger.warn(
        { err: error, job: delivery.jobId },
        'A message may be delivered again while its job runs.',
      );
    }
  }
}

/** A heartbeat answers for all jobs it names; one bad token must not hide what it says about the others. */
function tryParse(text: string): LeaseToken | null {
  try {
    return parseToken(text);
  } catch {
    return null;
  }
}
