import type { Job } from '../job/job.ts';
import type { ClaimRequest } from '../store/claim.ts';
import type { InsertAnswer, InsertGroup } from '../store/insert.ts';
import type { Store } from '../store/store.ts';

/** As the engine does it: whoever got no answer asks by itself. Only of stores that have the call. */
export async function insertAndClaim(
  store: Store,
  group: InsertGroup,
  request: ClaimRequest,
): Promise<{ answer: InsertAnswer; claimed: Job[] }> {
  const { answer, claimed } = await store.insertAndClaim!(group, request);
  return { answer, claimed: claimed ?? (await store.claim([request]))[0]! };
}
