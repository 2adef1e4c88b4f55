import type { ClaimRequest, InsertedAndClaimed, InsertGroup } from '@waybill/core';
import { plainArray, textArray } from './arrays.ts';
import { type Base, isDuplicate, isTooLarge } from './base.ts';
import { payloadOf } from './bell.ts';
import { claimAs, placesOf } from './claim.ts';
import { insertOneParameters, isSimple } from './columns.ts';
import { insert, inserted, isPlain } from './insert.ts';
import { keyOf } from './keys.ts';
import { isUnknown, noteQueues } from './store-jobs.ts';

export async function insertAndClaim(
  base: Base,
  group: InsertGroup,
  request: ClaimRequest,
): Promise<InsertedAndClaimed> {
  const both = await inOneStatement(base, group, request);
  if (both) return both;
  const [answer] = await insert(base, [group]);
  return { answer: answer!, claimed: null };
}

/**
 * Null where the job is not so simple, or there already, or others are too large to come with it; and where a queue may have
 * a limit, since claims of such a queue wait for each other.
 */
async function inOneStatement(
  base: Base,
  group: InsertGroup,
  request: ClaimRequest,
): Promise<InsertedAndClaimed | null> {
  const [made] = group.jobs;
  if (group.jobs.length !== 1 || !isPlain(group) || !isSimple(made!)) return null;
  const { job } = made!;
  if (job.rank === null || job.tenant !== request.tenant) return null;
  if (!request.queues.every((queue) => base.unlimited.has(keyOf(request.tenant, queue)))) return null;
  // Before the claim, which shall not look for it behind the floor only.
  base.floors.lower(job);
  try {
    const claimed = await claimAs(base, [request], async (queues) => {
      const [row] = await base.link.query<[string]>(base.sql['insert-and-claim'], [
        // Not as the bell has it, which keeps quiet for a while after: hardly ever is anybody told.
        ...insertOneParameters(made!, isUnknown(base, job), payloadOf([job.queue])),
        textArray(queues),
        plainArray(placesOf(base, request.tenant, queues)),
        request.claimId,
        request.workerId,
        request.limit,
        request.leaseMs,
        base.bundleFrom,
        request.now,
      ]);
      return row![0];
    });
    noteQueues(base, [job]);
    if (!claimed.some(({ id }) => id === job.id)) base.bell.ready([job]);
    return { answer: inserted(group), claimed };
  } catch (error) {
    if (isDuplicate(error) || isTooLarge(error)) return null;
    throw error;
  }
}
