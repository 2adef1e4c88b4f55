import { seen } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { SubjectEventType } from '../events/subject-event.ts';
import type { Job } from '../job/job.ts';
import { holdsLease, type LeaseToken, parseToken } from '../job/lease.ts';
import { sleeps, transition } from '../job/transition.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import { checkId } from '../read-query.ts';
import { checkQueueOf, refusal } from '../settle/refusal.ts';
import type { Page } from '../store/query.ts';
import type { StoredRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import {
  type CheckedAsk,
  checkAnswer,
  checkAsk,
  checkQuestionPrefix,
  KEPT_MS,
  QUESTION_KIND,
  questionIdOf,
  type StoredQuestion,
  shownQuestion,
  statusOf,
  storedQuestion,
} from './question.ts';
import {
  type AnswerInput,
  type AskCall,
  QUESTION_STATUSES,
  type Question,
  type QuestionQuery,
} from './questions-port.ts';

/**
 * How long a job sleeps that nobody has confirmed to wait, and how early it wakes where an answer may be on its way. A crash
 * at any point costs so much, and one run that asks again.
 */
export const UNCONFIRMED_MS = 10_000;

/** Rounds of read, decide and compare-and-set before we give up on a question that others keep changing. */
const MAX_ROUNDS = 20;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

interface QuestionParts {
  store: Store;
  writer: Writer;
  logger: Logger;
  /** The log tells more. */
  onTold(): void;
}

interface Key {
  tenant: string;
  id: string;
}

/**
 * What runs ask of a person or another system. The record has the question and its answer, the job's row says whether it sleeps. Two
 * rules keep an answer from being lost between them, see docs/questions.md: a sleep that lasts is written only after the
 * record was marked and only if the row stayed as it was, and an answer shortens that sleep before it is stored.
 */
export class QuestionBook {
  readonly #parts: QuestionParts;

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  async ask(call: AskCall): Promise<Question> {
    const asked = checkAsk(call);
    const { tenant = '', id, leaseToken } = call;
    checkId(id);
    if (leaseToken === undefined) throw invalidField('lease_token', 'is required: only a run asks for its job.');
    const token = parseToken(leaseToken);
    const job = await this.#parts.writer.mustRead({ tenant, id });
    checkQueueOf(job, call.queue);
    if (holdsLease(job, token)) return this.#ofRun(job, asked);
    if (isAsleep(job, token)) return this.#sleep({ tenant, id }, token, asked.key);
    throw refusal(job, token, undefined);
  }

  async list(query: QuestionQuery = {}): Promise<Page<Question>> {
    const { tenant = '', status, jobId, idPrefix, limit = DEFAULT_LIMIT, cursor } = query;
    if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_LIMIT))
      throw invalidField('limit', `must be an integer from 1 to ${MAX_LIMIT}.`);
    if (status !== undefined && !QUESTION_STATUSES.includes(status))
      throw invalidField('status', `must be one of ${QUESTION_STATUSES.join(', ')}.`, { allowed: QUESTION_STATUSES });
    if (jobId !== undefined) checkId(jobId);
    const prefix = jobId === undefined ? idPrefix : `${jobId}.`;
    const { records } = this.#parts.store;
    const page = await records.list({
      ...{ tenant, kind: QUESTION_KIND, limit },
      ...(prefix !== undefined && { prefix: checkQuestionPrefix(prefix) }),
      ...(cursor !== undefined && { cursor }),
    });
    const shown = await this.#shown(page.items);
    const items = status === undefined ? shown : shown.filter((question) => question.status === status);
    return { items, ...(page.cursor !== undefined && { cursor: page.cursor }) };
  }

  async get(id: string, { tenant = '' }: { tenant?: string } = {}): Promise<Question> {
    const [question] = await this.#shown([await this.#mustFind({ tenant, id })]);
    return question!;
  }

  async answer(
    id: string,
    given: AnswerInput,
    { tenant = '', by }: { tenant?: string; by?: string } = {},
  ): Promise<Question> {
    const { store, writer } = this.#parts;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const record = await this.#mustFind({ tenant, id });
      const question = storedQuestion(record);
      const fitting = checkAnswer(question, given, by);
      const job = await writer.read({ tenant, id: question.jobId });
      const now = store.clock.now();
      const status = statusOf(question, job, now);
      if (status !== 'open') throw notOpen(shownQuestion(record, job, now));
      const sleeper = job !== null && question.waitingRun !== null && sleeps(job, question.waitingRun) ? job : null;
      if (sleeper !== null && !(await this.#shorten(sleeper, now))) continue;
      const answer = { ...fitting, at: now };
      const fact = { job_id: question.jobId, ...(answer.choice !== null && { choice: answer.choice }) };
      const told = { ...fact, ...(answer.by !== null && { by: answer.by }) };
      const stored = await this.#put(record, { ...question, answer }, 'question.answered', told);
      if (stored === null) continue;
      if (sleeper !== null) await this.#wake({ tenant, id: sleeper.id }, sleeper.run);
      return shownQuestion(stored, job, now);
    }
    throw tooBusy(id);
  }

  /** The question as the run that asks it finds it: made now, or known from an earlier run. */
  async #ofRun(job: Job, asked: CheckedAsk): Promise<Question> {
    const { store } = this.#parts;
    const { tenant } = job;
    const id = questionIdOf(job.id, asked.key);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const now = store.clock.now();
      const record = await this.#find({ tenant, id });
      if (record === null) {
        const made = await this.#make(job, id, asked, now);
        if (made === null) continue;
        return shownQuestion(made, job, now);
      }
      const question = storedQuestion(record);
      if (question.key !== asked.key) throw sameId(id, question.key, asked.key);
      const isLate = statusOf(question, job, now) === 'expired' && !question.isExpired;
      const isOld = record.expiresAt !== null && record.expiresAt < Math.max(question.expiresAt, now) + KEPT_MS / 2;
      if (!isLate && !isOld) return shownQuestion(record, job, now);
      const after = { ...question, isExpired: question.isExpired || isLate };
      const stored = await this.#put(record, after, isLate ? 'question.expired' : undefined, { job_id: job.id });
      if (stored !== null) return shownQuestion(stored, job, now);
    }
    throw tooBusy(id);
  }

  async #make(job: Job, id: string, { openMs, ...asked }: CheckedAsk, now: number): Promise<StoredRecord | null> {
    const { tenant, id: jobId, type: jobType, queue } = job;
    const expiresAt = now + openMs;
    const question: StoredQuestion = {
      ...{ jobId, jobType, queue, ...asked, askedAt: now, expiresAt },
      ...{ answer: null, waitingRun: null, isExpired: false },
    };
    const facts = { key: asked.key, text: cut(asked.text), expires_at: new Date(expiresAt).toISOString() };
    const told = { job_id: jobId, ...facts, ...(asked.choices !== null && { choices: [...asked.choices] }) };
    const none = { tenant, kind: QUESTION_KIND, id, version: 0 };
    return this.#put(none, question, 'question.asked', told);
  }

  /** The run that asked was settled: from now on the job sleeps until the answer comes, or the question expires. */
  async #sleep(key: Key, token: LeaseToken, questionKey: string): Promise<Question> {
    const { store, writer } = this.#parts;
    const id = questionIdOf(key.id, questionKey);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      // Before the record is marked: an answer that comes later must find the mark, or change this row.
      const job = await writer.mustRead(key);
      const record = await this.#mustFind({ tenant: key.tenant, id });
      const question = storedQuestion(record);
      const now = store.clock.now();
      if (!isAsleep(job, token)) return shownQuestion(record, job, now);
      if (statusOf(question, job, now) !== 'open') {
        await this.#wake(key, token.run);
        return shownQuestion(record, job, now);
      }
      const marked = await this.#put(record, { ...question, waitingRun: token.run });
      if (marked === null) continue;
      const after = transition(job, { do: 'sleep', run: token.run, until: question.expiresAt }, now);
      // Lost: the row has moved meanwhile, by an answer, a cancel or its own alarm. That stands.
      if (after !== null) await writer.write(job, seen(job), after);
      return shownQuestion(marked, job, now);
    }
    throw tooBusy(id);
  }

  /** Always moves the alarm, if only by a millisecond, so that nobody who has read the row before can prolong its sleep. */
  async #shorten(job: Job, now: number): Promise<boolean> {
    const until = Math.min(now + UNCONFIRMED_MS, job.scheduledAt! - 1);
    const { run } = job;
    const after = transition(job, until > now ? { do: 'sleep', run, until } : { do: 'wake', run }, now);
    if (after === null) return false;
    return (await this.#parts.writer.write(job, seen(job), after)).status === 'applied';
  }

  /** What it waited for is stored, and its own alarm wakes it soon: a failure costs only time. */
  async #wake(key: Key, run: number): Promise<void> {
    const { writer, logger } = this.#parts;
    try {
      await writer.change(key, { do: 'wake', run }, notAsleep);
    } catch (error) {
      if (WaybillError.from(error).code === 'conflict' || WaybillError.from(error).code === 'not_found') return;
      logger.warn({ err: error, job: key.id }, 'A job could not be woken at once after its question was answered.');
    }
  }

  async #put(
    { tenant, kind, id, version }: Pick<StoredRecord, 'tenant' | 'kind' | 'id' | 'version'>,
    question: StoredQuestion,
    type?: SubjectEventType,
    data: JsonObject = {},
  ): Promise<StoredRecord | null> {
    const { store, onTold } = this.#parts;
    const at = store.clock.now();
    const [answer] = await store.records.put([
      {
        ...{ tenant, kind, id, value: question as unknown as JsonObject, expected: version },
        expiresAt: Math.max(question.expiresAt, at) + KEPT_MS,
        ...(type !== undefined && { told: { type, tenant, subject: id, at, data } }),
      },
    ]);
    if (type !== undefined) onTold();
    return answer!.status === 'stored' ? answer!.record : null;
  }

  async #find({ tenant, id }: Key): Promise<StoredRecord | null> {
    const [record] = await this.#parts.store.records.get([{ tenant, kind: QUESTION_KIND, id }]);
    return record ?? null;
  }

  async #mustFind(key: Key): Promise<StoredRecord> {
    const record = PRINTABLE_ID.test(key.id) ? await this.#find(key) : null;
    if (record === null) throw questionNotFound(key.id);
    return record;
  }

  async #shown(records: readonly StoredRecord[]): Promise<Question[]> {
    const { store } = this.#parts;
    const now = store.clock.now();
    const keys = records.map(({ tenant, value }) => ({ tenant, id: (value as unknown as StoredQuestion).jobId }));
    const jobs = keys.length === 0 ? [] : await store.get(keys);
    return records.map((record, index) => shownQuestion(record, jobs[index]!, now));
  }
}

const PRINTABLE_ID = /^[0-9a-f-]{36}\.[0-9a-f]{12}$/;
const MAX_TOLD = 500;

const cut = (text: string): string => (text.length <= MAX_TOLD ? text : `${text.slice(0, MAX_TOLD - 1)}…`);

/** This very run was snoozed, and nothing has happened to the job since. */
const isAsleep = (job: Job, token: LeaseToken): boolean => sleeps(job, token.run) && job.claimId === token.claimId;

const notAsleep = (job: Job): WaybillError => new WaybillError('conflict', `Job ${job.id} is ${job.state}.`);

export const questionNotFound = (id: string): WaybillError =>
  new WaybillError('not_found', `There is no question ${String(id).slice(0, 100)}.`, {
    details: { question_id: String(id).slice(0, 100) },
    hint: "List them with 'waybill questions list'. Questions are removed 90 days after they were last used.",
  });

function notOpen({ id, jobId, status, answer }: Question): WaybillError {
  const why =
    status === 'answered'
      ? `was answered${answer?.by ? ` by '${answer.by}'` : ''} at ${new Date(answer!.at).toISOString()}`
      : status === 'expired'
        ? 'has expired'
        : `is closed, because job ${jobId} has ended`;
  return new WaybillError('conflict', `Question ${id} ${why}.`, {
    details: { question_id: id, status, ...(answer?.choice && { choice: answer.choice }) },
  });
}

/** An id has a part of the digest of the key, and code that may choose keys can find two with the same part. */
const sameId = (id: string, key: string, other: string): WaybillError =>
  new WaybillError('conflict', `The keys '${key}' and '${other}' give the same question id ${id}. Use another key.`, {
    details: { question_id: id },
  });

const tooBusy = (id: string): WaybillError =>
  new WaybillError('unavailable', `Question ${id} is being changed by others all the time. Try again.`);
