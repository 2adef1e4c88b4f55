import { createHash } from 'node:crypto';
import { MAX_KEY_LENGTH } from '../enqueue/enqueue.ts';
import type { JobRequest } from '../enqueue/envelope.ts';
import { WaybillError } from '../errors.ts';
import type { Delivery } from '../transport/transport.ts';
import type { Jobs } from '../waybill.ts';

/** The id of the job that a message of a foreign producer becomes: one job, however often the message comes. */
export async function adoptedJob(
  adopt: Jobs['enqueue'],
  { tenant, queue, jobId }: Pick<Delivery, 'tenant' | 'queue' | 'jobId'>,
  request: JobRequest,
): Promise<string> {
  const context = request.id === undefined ? { tenant, idempotencyKey: adoptionKey(queue, jobId) } : { tenant };
  try {
    return (await adopt(request, context)).job.id;
  } catch (error) {
    if (error instanceof WaybillError && error.code === 'duplicate' && request.id !== undefined) return request.id;
    throw error;
  }
}

/** The producer's name of a request in a queue, as a key; too long a one is told apart by its digest. */
function adoptionKey(queue: string, id: string): string {
  const key = `adopt:${queue}:${id}`;
  return key.length <= MAX_KEY_LENGTH ? key : `adopt:${createHash('sha256').update(key).digest('hex')}`;
}
