import { createHash } from 'node:crypto';
import { checkJson, checkNames, checkPrintable, isObject } from '../check.ts';
import { invalidField } from '../errors.ts';
import { isFinished, type Job } from '../job/job.ts';
import type { JsonObject } from '../json.ts';
import type { StoredRecord } from '../store/records.ts';
import type { AnswerInput, AskCall, Question, QuestionAnswer, QuestionStatus } from './questions-port.ts';

export const QUESTION_KIND = 'question';

const DAY_MS = 86_400_000;
const DEFAULT_OPEN_MS = 7 * DAY_MS;
const OPEN_MS = { min: 1_000, max: 90 * DAY_MS };
/** How long a question is kept after it was last asked, answered or expired. A job that goes on asks its questions again. */
export const KEPT_MS = 90 * DAY_MS;

const MAX_TEXT = 10_000;
const MAX_CHOICES = 20;
const MAX_CHOICE = 200;
const MAX_DETAILS_BYTES = 32_768;
const MAX_BY = 256;

/** A question as its record keeps it. */
export interface StoredQuestion extends Omit<Question, 'tenant' | 'id' | 'status'> {
  /** The run that sleeps until the answer comes; null while no sleep has been confirmed. */
  waitingRun: number | null;
  /** Whether a run was told that nobody has answered. */
  isExpired: boolean;
}

export type CheckedAsk = Pick<StoredQuestion, 'key' | 'text' | 'choices' | 'details'> & { openMs: number };

/** A job asks a question once, whatever the number of its runs. */
export const questionIdOf = (jobId: string, key: string): string =>
  `${jobId}.${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;

const PREFIX = /^[0-9a-f-]{1,36}(\.[0-9a-f]{0,12})?$/;

export function checkQuestionPrefix(prefix: string): string {
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return prefix;
  throw invalidField('id_prefix', 'must be the begin of a question id, such as 0199a3f0-12ab.');
}

const ASK_NAMES = ['tenant', 'id', 'leaseToken', 'queue', 'key', 'text', 'choices', 'details', 'expiresInMs'];

export function checkAsk(call: AskCall): CheckedAsk {
  checkNames('jobs.ask()', call, ASK_NAMES);
  const { key, text, choices, details, expiresInMs = DEFAULT_OPEN_MS } = call;
  if (typeof key !== 'string') throw invalidField('key', 'must be a text.');
  checkPrintable('key', key);
  checkText('text', text);
  if (!(Number.isSafeInteger(expiresInMs) && expiresInMs >= OPEN_MS.min && expiresInMs <= OPEN_MS.max)) {
    const rule = `must be whole milliseconds from ${OPEN_MS.min} to ${OPEN_MS.max}, not ${String(expiresInMs)}.`;
    throw invalidField('expires_in_ms', rule, OPEN_MS);
  }
  return {
    ...{ key, text, openMs: expiresInMs },
    choices: choices === undefined ? null : checkChoices(choices),
    details: details === undefined ? null : checkDetails(details),
  };
}

function checkText(field: string, text: unknown): string {
  if (typeof text !== 'string' || text.trim() === '') throw invalidField(field, 'must be a text that is not empty.');
  if (text.length > MAX_TEXT)
    throw invalidField(field, `must have at most ${MAX_TEXT} characters, not ${text.length}.`, { max: MAX_TEXT });
  return text;
}

function checkChoices(choices: readonly string[]): string[] {
  if (!Array.isArray(choices) || choices.length === 0 || choices.length > MAX_CHOICES)
    throw invalidField('choices', `must be a list of 1 to ${MAX_CHOICES} texts. Leave it out to take any text.`);
  for (const [index, choice] of choices.entries()) {
    if (typeof choice !== 'string' || choice.trim() === '' || choice.length > MAX_CHOICE)
      throw invalidField(`choices[${index}]`, `must be a text of 1 to ${MAX_CHOICE} characters.`);
    if (choices.indexOf(choice) !== index) throw invalidField(`choices[${index}]`, `repeats '${choice}'.`);
  }
  return [...choices];
}

function checkDetails(details: JsonObject): JsonObject {
  if (!isObject(details)) throw invalidField('details', 'must be an object.');
  checkJson(details);
  const bytes = Buffer.byteLength(JSON.stringify(details));
  if (bytes <= MAX_DETAILS_BYTES) return details;
  throw invalidField('details', `must have at most ${MAX_DETAILS_BYTES} bytes as JSON, not ${bytes}.`);
}

/** What an answer makes of a question: refused where it does not fit. */
export function checkAnswer(
  { choices }: Pick<StoredQuestion, 'choices'>,
  given: AnswerInput,
  by: string | undefined,
): Omit<QuestionAnswer, 'at'> {
  checkNames('An answer', given, ['choice', 'text']);
  const { choice, text } = given;
  if (by !== undefined && (typeof by !== 'string' || by === '' || by.length > MAX_BY))
    throw invalidField('by', `must be a text of 1 to ${MAX_BY} characters.`);
  if (text !== undefined) checkText('text', text);
  if (choices === null) {
    if (choice !== undefined)
      throw invalidField('choice', "must be left out: the question has no choices. Use 'text'.");
    if (text === undefined) throw invalidField('text', 'is required: the question has no choices.');
  } else if (choice === undefined || !choices.includes(choice)) {
    const shown = choices.map((one) => `'${one}'`).join(', ');
    throw invalidField('choice', `must be one of ${shown}.`, { allowed: [...choices] });
  }
  return { choice: choice ?? null, text: text ?? null, by: by ?? null };
}

export const storedQuestion = ({ value }: StoredRecord): StoredQuestion => value as unknown as StoredQuestion;

/** Derived from the job's row, which is the truth about who still waits. */
export function statusOf(
  { answer, isExpired, expiresAt }: StoredQuestion,
  job: Pick<Job, 'state'> | null,
  now: number,
): QuestionStatus {
  if (answer !== null) return 'answered';
  if (isExpired) return 'expired';
  if (job === null || isFinished(job.state)) return 'closed';
  return now >= expiresAt ? 'expired' : 'open';
}

export function shownQuestion(record: StoredRecord, job: Pick<Job, 'state'> | null, now: number): Question {
  const stored = storedQuestion(record);
  const { waitingRun: _, isExpired: __, ...question } = stored;
  return { tenant: record.tenant, id: record.id, ...question, status: statusOf(stored, job, now) };
}
