import { type Delivery, type Hint, isJobId, isObject } from '@waybill/core';
import { type Adopt, type Attributes, adoptByDefault } from './adopt.ts';
import type { Place } from './queue-names.ts';
import type { Message, MessageAttributeValue } from './sdk.ts';

/** The body names the row and holds nothing of it. */
export function bodyOf({ tenant, jobId, queue, attempt }: Hint): string {
  return JSON.stringify({ job_id: jobId, queue, attempt, ...(tenant !== '' && { tenant }) });
}

/** For people, filters and Lambda functions that look at messages; we ourselves read the body only. */
export function attributesOf(hint: Hint): Record<string, MessageAttributeValue> {
  return {
    JobType: text(hint.type),
    Priority: { DataType: 'Number', StringValue: String(hint.priority) },
    requestId: text(sendable(hint.requestId) ?? hint.jobId),
    ...(sendable(hint.traceparent) && { traceparent: text(hint.traceparent!) }),
  };
}

/** Producers write what they like into a job; SQS would refuse the whole batch for one strange letter. */
const sendable = (value: string | undefined): string | undefined =>
  value !== undefined && /^[\x20-\x7e]{1,256}$/.test(value) ? value : undefined;

const text = (value: string): MessageAttributeValue => ({ DataType: 'String', StringValue: value });

/** The receipt names the SQS queue, since whoever settles may never have received from it. */
export const receiptOf = (name: string, handle: string): string => `${name}/${handle}`;

export function readReceipt(receipt: string): { name: string; handle: string } {
  const slash = receipt.indexOf('/');
  return { name: receipt.slice(0, slash), handle: receipt.slice(slash + 1) };
}

/** A message as received, by whichever way it came. */
export interface RawMessage {
  body: string;
  attributes: Attributes;
  handle: string;
  /** Of SQS. */
  id: string;
}

export function rawOf({ Body, MessageAttributes, MessageId, ReceiptHandle }: Message): RawMessage {
  const attributes: Record<string, string> = {};
  for (const [name, { StringValue }] of Object.entries(MessageAttributes ?? {})) {
    if (StringValue !== undefined) attributes[name] = StringValue;
  }
  return { body: Body ?? '', attributes, handle: ReceiptHandle ?? '', id: MessageId ?? '' };
}

/** A message that is nothing of ours, and nothing that may be adopted. */
export interface Strange {
  strange: string;
}

export const isStrange = (read: Delivery | Strange): read is Strange => 'strange' in read;

const NEITHER = 'It is neither a hint nor a job.';

export function readMessage(
  { body, attributes, handle, id }: RawMessage,
  { tenant, queue }: Place,
  name: string,
  adopt: Adopt | true | undefined,
): Delivery | Strange {
  const receipt = receiptOf(name, handle);
  const value = parse(body);
  const jobId = hintedJob(value, { tenant, queue });
  if (jobId !== null) return { tenant, jobId, queue, receipt };
  if (adopt === undefined) return { strange: NEITHER };
  const adopted = (adopt === true ? adoptByDefault(queue) : adopt)(value, attributes, id);
  if (adopted === null) return { strange: NEITHER };
  if ('reason' in adopted) return { strange: adopted.reason };
  return { tenant, jobId: adopted.id, queue, receipt, adopt: adopted.request };
}

/** Our own hints have exactly these fields. One of another queue or tenant has gone astray; its row has others sent. */
export function hintedJob(value: unknown, { tenant, queue }: Place): string | null {
  if (!isObject(value)) return null;
  const { job_id: jobId, queue: named, attempt, tenant: of = '', ...rest } = value;
  if (typeof jobId !== 'string' || !isJobId(jobId) || typeof attempt !== 'number') return null;
  return named === queue && of === tenant && Object.keys(rest).length === 0 ? jobId : null;
}

export function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
