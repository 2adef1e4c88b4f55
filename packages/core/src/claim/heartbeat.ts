import type { FollowUp } from '../commit/follow-up.ts';
import { GroupCommit } from '../commit/group-commit.ts';
import { invalidField } from '../errors.ts';
import { workerStarted } from '../events/told.ts';
import { type LeaseToken, parseToken } from '../job/lease.ts';
import type { Logger } from '../logger.ts';
import type { ReportWriter } from '../progress/report-writer.ts';
import type { ExtendAnswer, ExtendRequest } from '../store/extend.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { HeartbeatAnswer, HeartbeatCall } from '../waybill.ts';
import { MAX_CLAIM } from './claimer.ts';
import { checkWorkerId } from './worker-id.ts';

interface HeartbeatParts {
  store: Store;
  reports: ReportWriter;
  followUp: FollowUp;
  transport: Transport;
  logger: Logger;
}

interface ExtendCall {
  tenant: string;
  id: string;
  /** Null: it was no token at all. */
  token: LeaseToken | null | undefined;
  workerId: string | undefined;
  leaseMs: number | null;
}

/** Keeps leases alive and tells workers what to do. A lease that is gone is listed, never revived. */
export class Heartbeats {
  readonly #parts: HeartbeatParts;
  readonly #extends: GroupCommit<ExtendRequest, ExtendAnswer>;

  constructor(parts: HeartbeatParts) {
    const { maxBatch: maxItems, parallelFlushes: parallel } = parts.store.capabilities;
    this.#parts = parts;
    this.#extends = new GroupCommit({ flush: (requests) => parts.store.extend(requests), maxItems, parallel });
  }

  async beat({ tenant = '', workerId, jobs, leaseMs }: HeartbeatCall): Promise<HeartbeatAnswer> {
    checkWorkerId(workerId);
    if (jobs.length > MAX_CLAIM) throw invalidField('active_jobs', `must have at most ${MAX_CLAIM} items.`);
    const { store } = this.#parts;
    const now = store.clock.now();
    const runs = jobs.map(({ id, leaseToken }) => ({
      id,
      token: leaseToken === undefined ? undefined : tryParse(leaseToken),
    }));
    const [directive, answers] = await Promise.all([
      store.workers.beat({
        ...{ tenant, id: workerId, activeJobs: jobs.length, now },
        told: workerStarted(workerId, jobs.length, { tenant, at: now }),
      }),
      Promise.all(runs.map((run) => this.extend({ tenant, ...run, workerId, leaseMs: leaseMs ?? null }))),
    ]);
    const extended = answers.flatMap((answer, index) =>
      answer.status === 'extended' ? [{ id: runs[index]!.id, leaseUntil: answer.leaseUntil }] : [],
    );
    await this.#tell(tenant, runs, workerId, extended, now);
    const alive = new Set(extended.map(({ id }) => id));
    return { directive, extended, lost: jobs.map(({ id }) => id).filter((id) => !alive.has(id)), now };
  }

  idle(): Promise<void> {
    return this.#extends.idle();
  }

  /** The leases hold already: an event that cannot be written is no reason to take them for lost. */
  async #tell(
    tenant: string,
    runs: readonly Pick<ExtendCall, 'id' | 'token'>[],
    workerId: string,
    extended: HeartbeatAnswer['extended'],
    now: number,
  ): Promise<void> {
    if (extended.length === 0) return;
    const { reports, followUp, logger } = this.#parts;
    const tokens = new Map(runs.map(({ id, token }) => [id, token]));
    const told = extended.map(({ id, leaseUntil }) => {
      const token = tokens.get(id);
      const by = token ? { run: token.run, claimId: token.claimId } : { workerId };
      return reports.add({ tenant, id, by, report: { number: null, leaseUntil }, now });
    });
    try {
      await Promise.all(told);
    } catch (error) {
      logger.warn({ err: error, worker: workerId }, 'Heartbeats were not noted in the log. The leases hold.');
    }
    followUp.reported();
  }

  async extend({ tenant, id, token, workerId, leaseMs }: ExtendCall): Promise<ExtendAnswer> {
    if (token === null) return { status: 'lost' };
    const now = this.#parts.store.clock.now();
    const by = token ? { run: token.run, claimId: token.claimId } : workerId === undefined ? 'anyone' : { workerId };
    const answer = await this.#extends.run({ tenant, id, by, leaseMs, now });
    if (answer.status === 'extended' && token?.receipt !== undefined) {
      await this.#keepHidden({ tenant, jobId: id, queue: '', receipt: token.receipt }, answer.leaseUntil - now);
    }
    return answer;
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
