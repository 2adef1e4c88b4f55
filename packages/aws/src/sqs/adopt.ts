import { isJobId, isObject, type JobRequest } from '@waybill/core';

/** What a message carries beside its body. */
export type Attributes = Readonly<Record<string, string>>;

/** A message of a foreign producer, as a job. */
export interface Adopted {
  /** The producer's own name of its request: a message that names it again makes no second job. */
  id: string;
  request: JobRequest;
}

/** Reads the message of a foreign producer; null: it is none, and is removed as poison. */
export type Adopt = (body: unknown, attributes: Attributes) => Adopted | null;

const ID = /^[a-zA-Z0-9_-]{1,200}$/;
const PRIORITIES: Readonly<Record<string, number>> = { high: 10, normal: 0, low: -10 };

/**
 * The shape that producers of AWS have in common: the attribute `JobType` (or `type` in the body) names the task, the
 * attribute `requestId` (or `job_id`, `requestId`, `id` in the body) the request, and the whole body is its input.
 */
export function adoptByDefault(queue: string): Adopt {
  return (body, attributes) => {
    if (!isObject(body)) return null;
    const type = attributes['JobType'] ?? body['type'];
    const id = attributes['requestId'] ?? body['job_id'] ?? body['requestId'] ?? body['id'];
    if (typeof type !== 'string' || typeof id !== 'string' || !ID.test(id)) return null;
    const priority = PRIORITIES[attributes['Priority'] ?? ''];
    const options = { queue, ...(priority !== undefined && { priority }) };
    return { id, request: { type, args: [body], options, ...(isJobId(id) && { id }) } };
  };
}
