import {
  type Clock,
  isFinished,
  type Job,
  lastError,
  TERMINAL_EVENT_TYPES,
  type Waybill,
  WaybillError,
} from '@waybill/core';

export interface WaitOptions {
  /** @defaultValue as long as it takes */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** After a stream of events broke: how long before it is opened again. */
const REOPEN_MS = 1_000;

type Ports = Pick<Waybill, 'jobs' | 'events'>;

/**
 * The job once it has finished. Told by the event that ends it: the log's end is noted before the job is looked at, so
 * an end that comes in between is behind the cursor and not missed.
 */
export async function untilFinished(ports: Ports, id: string, options: WaitOptions, clock: Clock): Promise<Job> {
  const { timeoutMs, signal } = options;
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  let isLate = false;
  if (timeoutMs !== undefined) {
    void clock.sleep(timeoutMs, over.signal).then(() => {
      isLate = !over.signal.aborted;
      over.abort();
    });
  }
  try {
    while (!stop.aborted) {
      const after = await ports.events.end();
      const job = await ports.jobs.get(id);
      if (isFinished(job.state)) return job;
      await ending(ports, id, after, stop, clock);
    }
    // Its end may have been told at the same moment.
    const job = await ports.jobs.get(id);
    if (isFinished(job.state)) return job;
    if (!isLate) throw signal?.reason;
    throw new WaybillError('timeout', `Job ${id} has not finished within ${timeoutMs} ms; it is ${job.state}.`, {
      details: { job_id: id, state: job.state },
      hint: 'The job goes on; wait for it again.',
    });
  } finally {
    over.abort();
  }
}

/** Resolves when the job seems to have ended, or when the stream broke and it is time to look. */
async function ending({ events }: Ports, id: string, after: string, stop: AbortSignal, clock: Clock): Promise<void> {
  const filter = { jobIds: [id], types: [...TERMINAL_EVENT_TYPES] };
  try {
    for await (const _ of events.follow({ after, filter, signal: stop })) return;
  } catch {
    // The job itself is asked next; whatever is wrong, that call will say so.
  }
  await clock.sleep(REOPEN_MS, stop);
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
