import { toRfc3339 } from '@waybill/client';
import { durationMs, jsonListOf, msOf } from '@waybill/client/rpc';
import { checkJson, invalidField, type JobRequest, type Json, type JsonObject } from '@waybill/core';
import type { EnqueueJobRequest } from '@waybill/protocol';

const KEY = /^[\x20-\x7e]{1,255}$/;

/** The request id is the idempotency key of the HTTP interface. */
export function requestIdOf({ requestId }: EnqueueJobRequest): { idempotencyKey?: string } {
  if (requestId === '') return {};
  if (KEY.test(requestId)) return { idempotencyKey: requestId };
  throw invalidField('request_id', 'must have 1 to 255 printable ASCII characters.');
}

/** The envelope that the HTTP interface would have got; the engine checks it. */
export function envelopeOf(request: EnqueueJobRequest): JobRequest {
  const { type, args, meta, jobId, extra } = request;
  const envelope: JobRequest = {
    ...extra,
    type,
    // Where it is absent, the engine refuses the job.
    args: (args && jsonListOf(args, 'args')) as Json[],
    ...(jobId !== undefined && { id: jobId }),
    ...(meta && { meta }),
    options: optionsOf(request),
  };
  checkJson(envelope);
  return envelope;
}

function optionsOf(request: EnqueueJobRequest): JsonObject {
  const { options = {}, queue, priority, scheduledAt, delay, timeout, tags } = request;
  if (scheduledAt && delay) throw invalidField('delay', `contradicts 'scheduled_at': send one of them.`);
  const typed: JsonObject = {
    ...(queue !== '' && { queue }),
    ...(priority !== undefined && { priority }),
    ...(scheduledAt && { scheduled_at: toRfc3339(msOf(scheduledAt, 'scheduled_at')) }),
    ...(delay && { scheduled_at: `+PT${durationMs(delay, 'delay') / 1_000}S` }),
    ...(timeout && { timeout_ms: Math.round(durationMs(timeout, 'timeout')) }),
    ...(tags.length > 0 && { tags }),
  };
  const twice = Object.keys(typed).find((name) => Object.hasOwn(options, name));
  if (twice !== undefined) throw invalidField(`options.${twice}`, 'is also a field of the request: send one of them.');
  return { ...(options as JsonObject), ...typed };
}
