import { type Lease, Roster, WaybillError } from '@waybill/core';
import { RunControl } from './execute/run-control.ts';

/** One lease in this worker's hands. All times are of the monotonic clock: the wall clock may jump. */
export class HeldRun extends RunControl {
  readonly lease: Lease;
  readonly leaseMs: number;
  state: 'waiting' | 'running' | 'settling' = 'waiting';
  /** In a transaction of its own: settling it once more only makes sure of that. */
  isSettledByHandler = false;
  /** When the lease was last known to be ours in full. */
  renewedAt: number;
  /** When its handler was called. */
  startedAt = 0;

  /** Whether the worker ends it when it cannot keep its lease. */
  endsWithLease = false;
  #ended: AbortController | undefined;

  constructor(lease: Lease, now: number, leaseMs: number) {
    super(now);
    this.lease = lease;
    this.renewedAt = now;
    this.leaseMs = lease.job.leaseMs ?? leaseMs;
  }

  get id(): string {
    return this.lease.job.id;
  }

  get fields(): { task: string; job: string; run: number } {
    const { type, id, run } = this.lease.job;
    return { task: type, job: id, run };
  }

  /** Aborted when the worker has no more to do with it. */
  get ended(): AbortSignal {
    this.#ended ??= new AbortController();
    return this.#ended.signal;
  }

  end(): void {
    this.#ended?.abort();
  }

  lose(): void {
    this.abort(new WaybillError('lease_lost', `Job ${this.id} was cancelled, timed out or given to another worker.`));
  }

  stop(): void {
    this.abort(new WaybillError('unavailable', 'The worker is stopping.'));
  }
}

/** Everything this worker holds, by job. */
export class HeldRuns {
  readonly #runs = new Roster<string, HeldRun>();

  get size(): number {
    return this.#runs.size;
  }

  get(id: string): HeldRun | undefined {
    return this.#runs.get(id);
  }

  add(run: HeldRun): void {
    this.#runs.set(run.id, run);
  }

  /** The job may have come back to us under a new lease in the meantime: that one stays. */
  remove(run: HeldRun): void {
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
  }

  all(): HeldRun[] {
    return this.#runs.all();
  }
}
