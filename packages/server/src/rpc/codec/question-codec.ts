import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationMs, timeOf } from '@waybill/client/rpc';
import type { AskCall, JsonObject, Question } from '@waybill/core';
import { type AskRequest, QuestionSchema, type Question as RpcQuestion } from '@waybill/protocol';
import { jobIdOf, leaseTokenOf } from './fields.ts';

export function askFromRpc(request: AskRequest): AskCall {
  const { jobId, leaseToken, key, text, choices, details, expiresIn } = request;
  return {
    ...{ id: jobIdOf(jobId), ...leaseTokenOf(leaseToken, true), key, text },
    ...(choices.length > 0 && { choices }),
    ...(details && { details: details as JsonObject }),
    ...(expiresIn && { expiresInMs: Math.round(durationMs(expiresIn, 'expires_in')) }),
  };
}

export function questionToRpc(question: Question): RpcQuestion {
  const { id, jobId, jobType, queue, key, text, choices, details, status, askedAt, expiresAt, answer } = question;
  const shown: MessageInitShape<typeof QuestionSchema> = {
    ...{ id, jobId, jobType, queue, key, text, choices: [...(choices ?? [])], status },
    ...{ askedAt: timeOf(askedAt), expiresAt: timeOf(expiresAt) },
    ...(details && { details }),
    ...(answer && { answer: answerToRpc(answer) }),
  };
  return create(QuestionSchema, shown);
}

const answerToRpc = ({ choice, text, by, at }: NonNullable<Question['answer']>) => ({
  ...(choice !== null && { choice }),
  ...(text !== null && { text }),
  ...(by !== null && { by }),
  at: timeOf(at),
});
