import { changeOf } from '../commit/row-writer.ts';
import type { Job } from '../job/job.ts';
import type { Outcome } from '../job/outcome.ts';
import { transition } from '../job/transition.ts';
import type { Change } from '../store/apply.ts';
import type { Store } from '../store/store.ts';
import type { JobPayloads } from './job-payloads.ts';
import { type Lack, lackError } from './payloads.ts';

/** When a job is tried again whose payload could not be read just now. */
const AGAIN_MS = 10_000;

/** Whether the claimed job can be worked on; if not, what became of it. */
export type WholeClaim = { status: 'whole'; job: Job } | { status: 'gone' | 'put_off' };

/**
 * A job must not reach a worker without its payload. One whose payload is gone for good becomes a dead letter, which
 * says so; one whose payload cannot be read just now is put off, which costs it no attempt. Other jobs of the same
 * claim are not held up.
 */
export async function wholeClaims(
  store: Store,
  payloads: JobPayloads,
  claimed: readonly Job[],
): Promise<Map<Job, WholeClaim>> {
  const found = new Map<Job, WholeClaim>();
  const changes: Change[] = [];
  const now = store.clock.now();
  await Promise.all(
    claimed.map(async (stored) => {
      const job = await payloads.open(stored);
      const lack = payloads.lackOf(job);
      if (!lack) return found.set(stored, { status: 'whole', job });
      found.set(stored, { status: lack.cause === undefined ? 'gone' : 'put_off' });
      const settled = transition(stored, { do: 'settle', outcome: outcomeOf(stored, lack, now) }, now);
      const expect = { by: 'lease', run: stored.run, claimId: stored.claimId! } as const;
      if (settled) changes.push(changeOf(stored, expect, settled));
    }),
  );
  // As they were read: nothing of them was opened, so nothing needs to be put away again.
  const { maxBatch } = store.capabilities;
  for (let from = 0; from < changes.length; from += maxBatch) await store.apply(changes.slice(from, from + maxBatch));
  return found;
}

function outcomeOf(job: Job, lack: Lack, now: number): Outcome {
  if (lack.cause !== undefined) return { kind: 'snoozed', until: now + AGAIN_MS };
  const { code, message } = lackError(job, lack);
  return { kind: 'discarded', error: { code, message }, deadLetter: true };
}
