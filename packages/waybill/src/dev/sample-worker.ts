import type { Jobs } from '@waybill/core';

const LONG_POLL_MS = 20_000;

/** Answers every job of the queue `sample`, so that a newcomer sees a job go all the way. */
export async function sampleWorker(jobs: Jobs, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const leases = await jobs.claim({
      queues: ['sample'],
      count: 10,
      workerId: 'sample-worker',
      waitMs: LONG_POLL_MS,
      signal,
    });
    for (const { job, token } of leases) {
      const result = `hello ${String(job.spec.args[0] ?? 'there')}`;
      await jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result } });
    }
  }
}
