import { lackError } from '../blobs/payloads.ts';
import { nextAtFor } from '../job/next-at.ts';
import type { Reason } from './explanation.ts';
import { type Family, type Situation, timeOf } from './situation.ts';
import { newestTold } from './told.ts';

/** What stands in the way of a run that would begin: a payload that is gone, a row that upkeep fails for. */
export const damage: Family = {
  what: 'Its payloads',
  of: async (situation) => [...missing(situation), ...(await failing(situation))],
};

function missing({ job, lack }: Situation): Reason[] {
  if (lack === undefined) return [];
  const { message, hint = 'Check that the blob store can be reached: waybill doctor' } = lackError(job, lack);
  const effect =
    lack.cause === undefined ? 'A run of it ends as a dead letter.' : 'Runs of it are put off until it can be read.';
  return [{ code: 'payload_missing', message: `${message} ${effect}`, hint, details: { key: lack.key } }];
}

/** The sweep notes its failure in the row, as another moment than the one that follows from the job. */
async function failing({ job, store }: Situation): Promise<Reason[]> {
  if (job.nextAt === null || job.state === 'active' || job.nextAt === nextAtFor(job)) return [];
  const until = timeOf(job.nextAt);
  const { reason, next_try_at: next } = await newestTold(store, job, 'job.maintenance_failed');
  if (next !== until) return [];
  return [
    {
      code: 'upkeep_failing',
      message: `The sweep has failed to look after it: ${reason} It tries again at ${until}.`,
      hint: 'The log of the server has more: waybill doctor',
      details: { until, ...(typeof reason === 'string' && { reason }) },
    },
  ];
}

export const unreadable = (): Reason => ({
  code: 'unreadable',
  message:
    'Its row cannot be read: it is damaged, or a newer version wrote it. No worker gets it as long as that is so.',
  hint: 'Run the version that wrote it, or repair the row: waybill doctor',
  details: {},
});
