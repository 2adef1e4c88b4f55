import { isJobId, isObject, type JobRequest } from '@waybill/core';

/** What a message carries beside its body. */
export type Attributes = Readonly<Record<string, string>>;

/** A message of a foreign producer, as a job. */
export interface Adopted {
  /** The producer's own name of its request: a message that names it again makes no second job. */
  id: string;
  request: JobRequest;
}

/** Why a message is no job. */
export interface NotAdopted {
  reason: string;
}

/**
 * Reads the message of a foreign producer. One that is no job is put aside with the reason; null: with a general one. A body that
 * is not JSON is undefined. `messageId` is the id that SQS gave the message: the same each time it is delivered.
 */
export type Adopt = (body: unknown, attributes: Attributes, messageId: string) => Adopted | NotAdopted | null;

const ID = /^[a-zA-Z0-9_-]{1,256}$/;
const TYPE_PLACES = "the attribute 'JobType' or the field 'type'";
const ID_PLACES = "the attribute 'requestId' or the field 'job_id', 'requestId' or 'id'";
const PRIORITIES: Readonly<Record<string, number>> = { high: 10, normal: 0, low: -10 };

/**
 * The shape that producers of AWS have in common: the attribute `JobType` (or `type` in the body) names the task, the
 * attribute `requestId` (or `job_id`, `requestId`, `id` in the body) the request, and the whole body is its input.
 */
export function adoptByDefault(queue: string): Adopt {
  return (body, attributes) => {
    if (!isObject(body)) return { reason: 'Its body is not a JSON object.' };
    const type = attributes['JobType'] ?? body['type'];
    const id = attributes['requestId'] ?? body['job_id'] ?? body['requestId'] ?? body['id'];
    if (typeof type !== 'string') return { reason: `It names no task: ${TYPE_PLACES} must be a string.` };
    if (typeof id !== 'string') return { reason: `It names no request: ${ID_PLACES} must be a string.` };
    if (!ID.test(id)) return { reason: `Its request id must be 1 to 256 letters, digits, _ and -: ${ID_PLACES}.` };
    const priority = PRIORITIES[attributes['Priority'] ?? ''];
    const options = { queue, ...(priority !== undefined && { priority }) };
    return { id, request: { type, args: [body], options, ...(isJobId(id) && { id }) } };
  };
}
