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
import { ForgetfulQueues, nothingToWaitFor } from './forgetful-queues.ts';
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

/** How often a job is looked at whose end no event tells. */
const LOOK_EVERY_MS = 250;

interface Look {
  job: Job;
  /** No event will tell of its end. */
  isSilent: boolean;
}

type WaitPorts = Pick<Waybill, 'jobs' | 'events' | 'queues'>;

/** All who wait by one connection. They share a stream of events of their tenant, however many they are. */
export class Waits {
  readonly #ports: WaitPorts;
  readonly #clock: Clock;
  readonly #home: string;
  readonly #forgetful: ForgetfulQueues;
  readonly #ends = new Map<string | undefined, JobEnds>();

  /** `home`: the tenant of the connection. */
  constructor(ports: WaitPorts, clock: Clock, home = '') {
    this.#ports = ports;
    this.#forgetful = new ForgetfulQueues(ports.queues, clock);
    this.#clock = clock;
    this.#home = home;
  }

  /**
   * The job once it has finished. Told by the event that ends it, or found when it is looked at. `queue`: where the job is,
   * if that is known although its row may be gone.
   */
  async untilFinished(id: string, { timeoutMs, signal, ...given }: WaitOptions, queue?: string): Promise<Job> {
    const tenant = given.tenant === this.#home ? undefined : given.tenant;
    let where = queue;
    const get = async () => {
      const look = await this.#look(id, tenant, where);
      where = look.job.queue;
      return look;
    };
    const stop = new Stop(this.#clock, timeoutMs, signal);
    const watch = this.#endsOf(tenant).watch(id);
    try {
      await stop.before(watch.covered());
      while (!stop.isReached) {
        const told = watch.told();
        const { job, isSilent } = await get();
        if (isFinished(job.state)) return job;
        await stop.before(isSilent ? stop.pause(LOOK_EVERY_MS) : told);
      }
      // Its end may have been told at the same moment.
      const { job } = await get();
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

  /** Refused where the job's end would leave neither a row nor an event. */
  async #look(id: string, tenant: string | undefined, queue: string | undefined): Promise<Look> {
    const job = await this.#ports.jobs.get(id, tenant === undefined ? {} : { tenant }).catch(async (error: unknown) => {
      const isGone = WaybillError.from(error).code === 'not_found' && queue !== undefined;
      throw isGone && (await this.#forgetful.has(tenant, queue)) ? nothingToWaitFor(id, queue) : error;
    });
    if (isFinished(job.state) || !(await this.#forgetful.has(tenant, job.queue))) return { job, isSilent: false };
    // The row of a workflow's node is kept everywhere, since others wait for its result; the event of its end is not.
    if (job.workflowId === null) throw nothingToWaitFor(id, job.queue);
    return { job, isSilent: true };
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
  readonly #clock: Clock;
  isLate = false;

  constructor(clock: Clock, timeoutMs: number | undefined, signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#clock = clock;
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

  pause(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#over.signal);
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
