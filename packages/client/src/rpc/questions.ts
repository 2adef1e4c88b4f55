import type { AskCall, Question, QuestionStatus } from '@waybill/core';
import type { Question as RpcQuestion } from '@waybill/protocol';
import { RemoteError } from '../http/remote-error.ts';
import { namesIn, plainJson, refused, textIn } from './sent.ts';
import { durationOf, msOf } from './values.ts';

export function askToRpc({ id, leaseToken, key, text, choices, details, expiresInMs }: AskCall) {
  if (expiresInMs !== undefined && !Number.isFinite(expiresInMs))
    throw refused('expiresInMs', 'must be a number of milliseconds.');
  // On this wire an empty list and none are the same.
  if (choices?.length === 0) throw refused('choices', 'must have at least one item. Leave it out to take any text.');
  return {
    ...{ jobId: textIn(id, 'id'), key: textIn(key, 'key'), text: textIn(text, 'text') },
    ...(leaseToken !== undefined && { leaseToken }),
    ...(choices !== undefined && { choices: namesIn(choices, 'choices') }),
    ...(details !== undefined && { details: plainJson(details) }),
    ...(expiresInMs !== undefined && { expiresIn: durationOf(expiresInMs) }),
  };
}

export function questionFromRpc(question: RpcQuestion | undefined, tenant: string): Question {
  if (question === undefined) throw new RemoteError({ code: 'internal', message: 'The answer has no question.' });
  const { id, jobId, jobType, queue, key, text, choices, details, status, askedAt, expiresAt, answer } = question;
  const at = (time: typeof askedAt): number => (time ? msOf(time, 'time') : 0);
  return {
    ...{ tenant, id, jobId, jobType, queue, key, text, choices: choices.length === 0 ? null : [...choices] },
    ...{ details: (details as Question['details'] | undefined) ?? null, status: status as QuestionStatus },
    ...{ askedAt: at(askedAt), expiresAt: at(expiresAt) },
    answer: answer
      ? { choice: answer.choice ?? null, text: answer.text ?? null, by: answer.by ?? null, at: at(answer.at) }
      : null,
  };
}
