import type { AskCall, JsonObject, Question, QuestionAnswer, QuestionStatus } from '@waybill/core';
import { present } from './present.ts';
import { toRfc3339 } from './time.ts';

export interface WireQuestion {
  id: string;
  job_id: string;
  job_type: string;
  queue: string;
  key: string;
  text: string;
  choices?: string[];
  details?: JsonObject;
  status: QuestionStatus;
  asked_at: string;
  expires_at: string;
  answer?: WireAnswer;
}

export interface WireAnswer {
  choice?: string;
  text?: string;
  /** The id of the principal that gave it, where one is known. */
  by?: string;
  at: string;
}

export function questionToWire(question: Question): WireQuestion {
  const { id, jobId, jobType, queue, key, text, choices, details, status, askedAt, expiresAt, answer } = question;
  return {
    ...{ id, job_id: jobId, job_type: jobType, queue, key, text },
    ...present('choices', choices && [...choices]),
    ...present('details', details),
    ...{ status, asked_at: toRfc3339(askedAt), expires_at: toRfc3339(expiresAt) },
    ...present('answer', answer && answerToWire(answer)),
  };
}

const answerToWire = ({ choice, text, by, at }: QuestionAnswer): WireAnswer => ({
  ...present('choice', choice),
  ...present('text', text),
  ...present('by', by),
  at: toRfc3339(at),
});

export function questionFromWire(wire: WireQuestion, tenant: string): Question {
  const { id, job_id: jobId, job_type: jobType, queue, key, text, choices = null, details = null, status } = wire;
  const { answer } = wire;
  return {
    ...{ tenant, id, jobId, jobType, queue, key, text, choices, details, status },
    ...{ askedAt: Date.parse(wire.asked_at), expiresAt: Date.parse(wire.expires_at) },
    answer: answer
      ? { choice: answer.choice ?? null, text: answer.text ?? null, by: answer.by ?? null, at: Date.parse(answer.at) }
      : null,
  };
}

/** Unknown fields go along, for the server to refuse. */
export function askToWire(call: AskCall): object {
  const { tenant: _, id, leaseToken, queue: __, expiresInMs, ...rest } = call;
  return { job_id: id, ...present('lease_token', leaseToken), ...rest, ...present('expires_in_ms', expiresInMs) };
}
