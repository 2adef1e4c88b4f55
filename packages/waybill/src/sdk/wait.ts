import {
  type Clock,
  checkNames,
  invalidField,
  isFinished,
  type Job,
  lastError,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import { JobEnds } from './job-ends.ts';

export interface WaitOptions {
  /** Whose job it is. @defaultValue that of what `enqueue` has answered, else that of the connection */
  tenant?: string;
  /** @defaultValue as long as it takes */
  timeoutMs?: number;
  signal?: AbortSignal;
}

const OPTIONS = ['tenant', 'timeoutMs', 'signal'];

/** A misspelt timeout would wait for ever. */
export function checkWait(options: WaitOptions): void {
  checkNames('wait()', options, OPTIONS);
  const { timeoutMs } = options;
  if (timeoutMs === undefined || (Number.isFinite(timeoutMs) && timeoutMs >= 0)) return;
  throw invalidField('timeoutMs', `must be milliseconds from 0 on, not ${timeoutMs}.`);
}

/** All who wait by one connection. They share a stream of events of their tenant, however many they are. */
export class Waits {
  readonly #ports: Pick<Waybill, 'jobs' | 'events'>;
  readonly #clock: Clock;
  readonly #home: string;
  readonly #ends = new Map<string | undefined, JobEnds>();

  /** `home`: the tenant of the connection. */
  constructor(ports: Pick<Waybill, 'jobs' | 'events'>, clock: Clock, home = '') {
    this.#ports = ports;
    this.#clock = clock;
    this.#home = home;
  }

  /** The job once it has finished. Told by the event that ends it, or found when it is looked at. */
  async untilFinished(id: string, { timeoutMs, signal, ...given }: WaitOptions): Promise<Job> {
    const tenant = given.tenant === this.#home ? undefined : given.tenant;
    const get = () => this.#ports.jobs.get(id, tenant === undefined ? {} : { tenant });
    const stop = new Stop(this.#clock, timeoutMs, signal);
    const watch = this.#endsOf(tenant).watch(id);
    try {
      await stop.before(watch.covered());
      while (!stop.isReached) {
        const told = watch.told();
        const job = await get();
        if (isFinished(job.state)) return job;
        await stop.before(told);
      }
      // Its end may have been told at the same moment.
      const job = await get();
      if (isFinished(job.state)) return job;
      if (!stop.isLate) throw signal?.reason;
      throw new WaybillError('timeout', `Job ${id} has not finished within ${timeoutMs} ms; it is ${job.state}.`, {
        details: { job_id: id, state: job.state },
        hint: 'The job goes on; wait for it again.',
      });
    } finally {
      watch.leave();
      stop.leave();
    }
  }

  /** One without a tenant is that of the connection. */
  #endsOf(tenant: string | undefined): JobEnds {
    const known = this.#ends.get(tenant) ?? new JobEnds(this.#ports.events, this.#clock, tenant);
    this.#ends.set(tenant, known);
    return known;
  }
}

/** When a wait is given up: at its timeout, or when its caller says so. */
class Stop {
  readonly #over = new AbortController();
  readonly #signal: AbortSignal | undefined;
  readonly #reached = Promise.withResolvers<void>();
  readonly #reach = () => this.#reached.resolve();
  isLate = false;

  constructor(clock: Clock, timeoutMs: number | undefined, signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal?.aborted) this.#reach();
    signal?.addEventListener('abort', this.#reach, { once: true });
    if (timeoutMs === undefined) return;
    void clock.sleep(timeoutMs, this.#over.signal).then(() => {
      this.isLate = !this.#over.signal.aborted;
      this.#reach();
    });
  }

  get isReached(): boolean {
    return this.isLate || this.#signal?.aborted === true;
  }

  async before(other: Promise<void>): Promise<void> {
    await Promise.race([other, this.#reached.promise]);
  }

  leave(): void {
    this.#over.abort();
    this.#signal?.removeEventListener('abort', this.#reach);
  }
}

/** What the job came to, or why there is nothing. */
export function resultOf(job: Job): Job['result'] {
  if (job.state === 'completed') return job.result;
  const error = lastError(job);
  const why = error === undefined ? '' : `: ${error.message}`;
  throw new WaybillError('conflict', `Job ${job.id} (${job.type}) has no result, it was ${job.state}${why}`, {
    details: { job_id: job.id, state: job.state, ...(error && { error }) },
  });
}
