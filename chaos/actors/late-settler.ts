import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Jobs, Lease } from '@waybill/core';
import type { Random } from '../random.ts';
import { noted } from './handler.ts';
import type { Journal } from './journal.ts';
import { LATE_QUEUE } from './timing.ts';

/** After so many runs it is good for once, so that every job comes to an end. */
const LATE_RUNS = 3;

interface LateParts {
  jobs: Jobs;
  journal: Journal;
  random: Random;
  leaseMs: number;
}

/**
 * A worker without manners: it sends no heartbeats, holds jobs for longer than their lease, and settles all the same.
 * It also claims again under the same id, as one does whose answer got lost. Told to end, it leaves its jobs to their leases:
 * each call may take as long as its store is allowed to, and three in a row longer than a process has to end.
 */
export async function settleLate(parts: LateParts, signal: AbortSignal): Promise<void> {
  const settling = noted(parts.jobs, parts.journal, parts.random);
  while (!signal.aborted) {
    try {
      const leases = await claimTwice(parts, signal);
      await Promise.all(leases.map((lease) => holdAndSettle(parts, settling, lease, signal)));
    } catch {
      await sleep(200);
    }
  }
}

async function claimTwice({ jobs, journal, leaseMs }: LateParts, signal: AbortSignal): Promise<Lease[]> {
  const claimId = randomUUID();
  const call = { queues: [LATE_QUEUE], count: 2, leaseMs, claimId };
  // Asked without waiting: a wait would leave it open when the lease began.
  const begun = Date.now();
  const first = await jobs.claim(call);
  if (first.length === 0) {
    await sleep(400, undefined, { signal }).catch(() => {});
    return [];
  }
  if (signal.aborted) return [];
  const second = await jobs.claim(call);
  // Later the first answer may hold no more, and then the second one is another claim.
  if (Date.now() - begun < leaseMs / 2) {
    const known = new Set(first.map(({ token, job }) => `${job.id} ${token}`));
    const extra = second.filter(({ token, job }) => !known.has(`${job.id} ${token}`)).map(({ job }) => job.id);
    journal.note({ kind: 'claimed-again', claim: claimId, extra });
  }
  return first;
}

async function holdAndSettle(
  { journal, random, leaseMs }: LateParts,
  jobs: ReturnType<typeof noted>,
  { job, token }: Lease,
  signal: AbortSignal,
): Promise<void> {
  const run = { id: job.id, run: job.run };
  journal.note({ kind: 'start', ...run, parents: [] });
  const isLate = job.run <= LATE_RUNS && random(2) === 0;
  await sleep(isLate ? leaseMs + random(1_000) : random(leaseMs / 3), undefined, { signal }).catch(() => {});
  journal.note({ kind: 'end', ...run });
  if (signal.aborted) return;
  const outcome = { kind: 'completed', result: { job: job.id, run: job.run } } as const;
  await jobs.settle({ id: job.id, leaseToken: token, outcome }).catch(() => {});
}
