import { isFinished, type Job, lastError } from '../job/job.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store/store.ts';
import { errorText } from './error-text.ts';
import { type Reason, relatedJob } from './explanation.ts';
import { type Family, timeOf } from './situation.ts';
import { newestTold } from './told.ts';

const REPLACED = /^replaced by ([0-9a-f-]{36})$/;

/** How the job ended. */
export const ended: Family = {
  what: 'How it ended',
  of: async ({ job, store }) => {
    if (!isFinished(job.state)) return [];
    const at = timeOf(job.finishedAt ?? job.createdAt);
    const details = { finished_at: at, run: job.run };
    if (job.outcome === 'skipped') return [skipped(at, await newestTold(store, job, 'job.skipped'))];
    if (job.state === 'completed')
      return [{ code: 'completed', message: `It completed at ${at}.`, ...again(job), details }];
    if (job.state === 'cancelled') return [await cancelled(store, job, at)];
    if (job.outcome === 'expired') {
      const message = `It expired at ${timeOf(job.expiresAt ?? job.finishedAt!)}, before a worker had started it.`;
      return [{ code: 'expired', message, ...again(job), details }];
    }
    return [discarded(job, at)];
  },
};

function discarded(job: Job, at: string): Reason {
  const error = lastError(job);
  const why = error === undefined ? '' : `: ${errorText(error)}`;
  const kept = job.dead ? ' It is kept as a dead letter.' : '';
  const hint = job.workflowId === null ? again(job) : { hint: `waybill workflows resume ${job.workflowId}` };
  return {
    code: 'discarded',
    message: `It failed for good at ${at}, on attempt ${job.attempt} of ${job.maxAttempts}${why}${kept}`,
    ...hint,
    details: { finished_at: at, run: job.run, dead_letter: job.dead, ...(error && { error_code: error.code }) },
  };
}

/** A node that did not fail runs again only with its workflow. */
const again = ({ id, workflowId }: Job): { hint?: string } =>
  workflowId === null ? { hint: `To run it again: waybill jobs retry ${id}` } : {};

function skipped(at: string, { reason }: JsonObject): Reason {
  const why = reason === 'condition_false' ? 'its condition was false' : 'nodes before it were skipped';
  const told = typeof reason === 'string' ? { reason } : {};
  return { code: 'skipped', message: `It was skipped at ${at}: ${why}.`, details: { finished_at: at, ...told } };
}

async function cancelled(store: Store, job: Job, at: string): Promise<Reason> {
  const { cancelled_by: by, reason } = await newestTold(store, job, 'job.cancelled');
  const replacedBy = typeof reason === 'string' ? REPLACED.exec(reason)?.[1] : undefined;
  if (replacedBy !== undefined) {
    const [owner] = await store.get([{ tenant: job.tenant, id: replacedBy }]);
    return {
      code: 'replaced',
      message: `It was cancelled at ${at}: a newer job with the same unique key has taken its place.`,
      details: { finished_at: at },
      ...(owner && { jobs: [relatedJob(owner)] }),
    };
  }
  const who = typeof by === 'string' ? ` by '${by}'` : '';
  const why = typeof reason === 'string' ? `: ${reason}` : '';
  const hint =
    job.workflowId === null
      ? again(job)
      : { hint: `If a node before it failed: waybill workflows resume ${job.workflowId}` };
  return {
    code: 'cancelled',
    message: `It was cancelled${who} at ${at}${why}.`,
    ...hint,
    details: { finished_at: at, ...(typeof by === 'string' && { by }), ...(typeof reason === 'string' && { reason }) },
  };
}
