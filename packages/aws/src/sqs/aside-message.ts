import { type AsideMessage, isJobId, isObject } from '@waybill/core';
import { reasonOf, withoutReason } from './aside-reason.ts';
import { hintedJob, parse, receiptOf } from './message.ts';
import type { Place, Role } from './queue-names.ts';
import type { Message } from './sdk.ts';

/** As it was before it was put aside. */
export function original(message: Message) {
  const attributes = withoutReason(message);
  return { MessageBody: message.Body, ...(Object.keys(attributes).length > 0 && { MessageAttributes: attributes }) };
}

export function asideMessage(message: Message, place: Place, role: 'redrive' | 'dead', name: string): AsideMessage {
  const { MessageId = '', Body = '', Attributes, ReceiptHandle = '' } = message;
  const value = parse(Body);
  const hinted = hintedJob(value, place);
  const noticed = role === 'dead' ? noticedJob(value) : null;
  return {
    ...{ id: MessageId, tenant: place.tenant, queue: place.queue, place: role },
    kind: hinted !== null ? 'hint' : noticed !== null ? 'notice' : 'foreign',
    jobId: hinted ?? noticed,
    body: Body,
    reason: reasonOf(message),
    sentAt: Number(Attributes?.SentTimestamp ?? 0),
    receipt: receiptOf(name, ReceiptHandle),
    message,
  };
}

/** What `deadMessage` writes. */
function noticedJob(value: unknown): string | null {
  if (!isObject(value)) return null;
  const { job_id: jobId, max_attempts: most, time } = value;
  const isNotice = typeof most === 'number' && typeof time === 'string';
  return isNotice && typeof jobId === 'string' && isJobId(jobId) ? jobId : null;
}

export const ASIDE: readonly Extract<Role, 'redrive' | 'dead'>[] = ['redrive', 'dead'];
