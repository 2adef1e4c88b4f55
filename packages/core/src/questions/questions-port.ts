import type { Fence } from '../job/progress.ts';
import type { JsonObject } from '../json.ts';
import type { Page } from '../store/query.ts';

interface InTenant {
  tenant?: string;
}

/**
 * `open`: an answer is still taken. `expired`: none came in time. `closed`: the job has finished or is gone, so an answer
 * would have no reader.
 */
export const QUESTION_STATUSES = ['open', 'answered', 'expired', 'closed'] as const;
export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

/** What a run asks of a person or another system. */
export interface QuestionInput {
  /** 1 to 10,000 characters. */
  text: string;
  /** The answer must be one of these: 1 to 20 texts of at most 200 characters. @defaultValue any text is an answer */
  choices?: readonly string[];
  /** Facts for whoever answers, at most 32 KiB as JSON. */
  details?: JsonObject;
  /** How long an answer is waited for, 1 second to 90 days. @defaultValue 7 days */
  expiresInMs?: number;
}

/**
 * A run asks, and then ends as snoozed. The call is repeated with the same token after the run was settled: only then the job
 * sleeps until the answer comes, and no longer than the question is open.
 */
export interface AskCall extends InTenant, Pick<Fence, 'leaseToken' | 'queue'>, QuestionInput {
  id: string;
  /** Names the question among those of the job: asked again under the same key, it is the same question. */
  key: string;
}

/** Who chose what, and when. */
export interface QuestionAnswer {
  /** One of the choices; null where the question has none. */
  choice: string | null;
  text: string | null;
  /** The id of the principal that gave it, where one is known. */
  by: string | null;
  at: number;
}

export interface Question {
  tenant: string;
  /** The id of the job, a dot, and 12 hexadecimal digits. */
  id: string;
  jobId: string;
  jobType: string;
  queue: string;
  key: string;
  text: string;
  choices: readonly string[] | null;
  details: JsonObject | null;
  status: QuestionStatus;
  askedAt: number;
  expiresAt: number;
  answer: QuestionAnswer | null;
}

export interface AnswerInput {
  /** Required where the question has choices, and refused where it has none. */
  choice?: string;
  /** Required where the question has no choices. At most 10,000 characters. */
  text?: string;
}

export interface QuestionQuery extends InTenant {
  status?: QuestionStatus;
  jobId?: string;
  /** Only questions whose id begins so. */
  idPrefix?: string;
  /** 1 to 1,000. @defaultValue 100 */
  limit?: number;
  cursor?: string;
}

/** What runs ask of people and other systems. A job that waits for an answer holds no lease and no slot. */
export interface Questions {
  /** By id, so those of older jobs first. A page may be short or empty and have a cursor all the same. */
  list(query?: QuestionQuery): Promise<Page<Question>>;
  get(id: string, context?: InTenant): Promise<Question>;
  /** Once: a second answer is refused with `conflict`. The job is available when this returns. */
  answer(id: string, answer: AnswerInput, context?: InTenant & { by?: string }): Promise<Question>;
}
