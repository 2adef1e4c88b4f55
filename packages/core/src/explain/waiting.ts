import { budgets } from '../budgets/budgets.ts';
import { type Job, lastError } from '../job/job.ts';
import { UNKNOWN_TYPE } from '../job/outcome.ts';
import { isPast } from '../job/settle.ts';
import { QUESTION_KIND, statusOf, storedQuestion } from '../questions/question.ts';
import { errorText } from './error-text.ts';
import type { Reason } from './explanation.ts';
import { SWEEP_HINT } from './running.ts';
import { type Family, type Situation, timeOf } from './situation.ts';

const MOST_QUESTIONS = 100;
const MOST_BUDGETS = 1_000;

/** The moment that the job waits for, and what for. */
export const waiting: Family = {
  what: 'What it waits for',
  of: async (situation) => {
    const { job, now } = situation;
    if (job.state === 'available') return handedBack(situation);
    if (job.state !== 'scheduled' && job.state !== 'retryable') return [];
    if (isPast(job.scheduledAt, now)) return [];
    const until = timeOf(job.scheduledAt ?? now);
    if (job.state === 'scheduled') return [scheduled(job, until)];
    if (job.outcome !== 'snoozed') return [backoff(job, until)];
    if (isUnknown(job)) return [unknown(job, lastError(job)!.message, { until })];
    const asked = await questions(situation, until);
    return asked.length > 0 ? asked : [(await budget(situation, until)) ?? snoozed(job, until)];
  },
};

/** Due, and still where it was: the sweep of a server or a worker has not come. */
export const overdue: Family = {
  what: 'Its alarm',
  of: ({ job: { state, nextAt, scheduledAt, expiresAt }, now }) => {
    const isWaiting = state === 'scheduled' || state === 'retryable';
    const moment = isWaiting ? scheduledAt : null;
    const due = isPast(expiresAt, now) && (isWaiting || state === 'available') ? expiresAt : moment;
    if (!isPast(due, now)) return [];
    const what = due === expiresAt ? 'It expired at' : 'It has been due since';
    const later = nextAt !== null && nextAt > now ? { next_try_at: timeOf(nextAt) } : {};
    const message = `${what} ${timeOf(due)}, and no sweep has looked at it yet.`;
    return [{ code: 'overdue', message, hint: SWEEP_HINT, details: { since: timeOf(due), ...later } }];
  },
};

function scheduled({ spec, workflowId }: Job, until: string): Reason {
  const isDelayed = workflowId !== null && spec.rules?.delayMs !== undefined;
  const why = isDelayed ? ' Its workflow delays it after the nodes before it.' : '';
  return { code: 'scheduled', message: `It starts at ${until} at the earliest.${why}`, details: { until } };
}

function backoff(job: Job, until: string): Reason {
  const error = lastError(job);
  const why = error === undefined ? 'failed.' : `failed with ${errorText(error)}`;
  return {
    code: 'retry_backoff',
    message: `Attempt ${job.attempt} of ${job.maxAttempts} ${why} The next one starts at ${until} at the earliest.`,
    hint: `To see all errors: waybill jobs show ${job.id}`,
    details: {
      ...{ until, attempt: job.attempt, max_attempts: job.maxAttempts, outcome: job.outcome },
      ...(error && { error_code: error.code }),
    },
  };
}

function snoozed(job: Job, until: string): Reason {
  const error = lastError(job);
  const why = error !== undefined && error.run === job.run ? `, because of ${errorText(error)}` : '.';
  return { code: 'snoozed', message: `Its last run put it off until ${until}${why}`, details: { until } };
}

/** Since the run that handed it back, nothing else has happened. */
const isUnknown = (job: Job): boolean => {
  const error = lastError(job);
  return job.outcome === 'snoozed' && error?.code === UNKNOWN_TYPE && error.run === job.run;
};

/** The job is ready again, and the next worker may have no task for it either. */
function handedBack({ job, unknownType }: Situation): Reason[] {
  if (isUnknown(job)) return [unknown(job, lastError(job)!.message, {})];
  if (unknownType === undefined) return [];
  return [unknown(job, unknownType.reason, { next_try_at: timeOf(unknownType.nextTryAt) })];
}

const unknown = ({ type, queue }: Job, reason: string, more: { until?: string; next_try_at?: string }): Reason => ({
  code: 'unknown_type',
  message: `A worker of its queue had no task for it. ${errorText({ code: UNKNOWN_TYPE, message: reason })}`,
  hint: `Start a worker that has the task: waybill work MODULE --queues ${queue}`,
  details: { type, ...more },
});

/** Those that this very sleep waits for. */
async function questions({ job, now, store }: Situation, until: string): Promise<Reason[]> {
  const query = { tenant: job.tenant, kind: QUESTION_KIND, prefix: `${job.id}.`, limit: MOST_QUESTIONS };
  const { items } = await store.records.list(query);
  return items.flatMap((record): Reason[] => {
    const question = storedQuestion(record);
    if (question.waitingRun !== job.run || statusOf(question, job, now) !== 'open') return [];
    const { key, text, choices, askedAt, expiresAt } = question;
    return [
      {
        code: 'question',
        message: `It waits for an answer to '${text.length <= 200 ? text : `${text.slice(0, 199)}…`}'`,
        hint: `waybill questions answer ${record.id} ${choices === null ? 'TEXT' : 'CHOICE'}`,
        details: {
          ...{ until, question_id: record.id, key, ...(choices !== null && { choices: [...choices] }) },
          ...{ asked_at: timeOf(askedAt), expires_at: timeOf(expiresAt) },
        },
      },
    ];
  });
}

/** A run that stops for a budget is put off to the very moment at which the budget begins anew. */
async function budget({ job, store }: Situation, until: string): Promise<Reason | null> {
  const { items } = await budgets(store).list({ tenant: job.tenant, limit: MOST_BUDGETS });
  const used = items.find(({ isExceeded, endsAt }) => isExceeded && endsAt !== null && endsAt === job.scheduledAt);
  if (used === undefined) return null;
  const { id, spent, limit, unit, period } = used;
  return {
    code: 'budget',
    message: `It was put off until ${until}, when the budget '${id}' begins anew: ${spent} of ${limit} ${unit} per ${period} are spent.`,
    hint: 'Raise the budget with waybill budgets set, then enqueue the job anew or wait.',
    details: { until, budget: id, spent, limit, unit, period },
  };
}
