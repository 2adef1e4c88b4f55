import { hasSignedForm, hasTokenForm, invalidField, isJobId, type Lease } from '@waybill/core';

/** The run of a job that a token is for. */
export interface Task {
  jobId: string;
  queue: string;
  leaseToken: string;
}

const BEGIN = 'wb1_';
const LONGEST = 8_192;

/**
 * A token names its run completely, so that any server can take it. Where the server signs lease tokens, that one
 * names job and queue once more under the signature, and what stands around it must be the same.
 */
export function taskToken({ job, token }: Lease): string {
  const parts = [job.id, job.queue, token];
  return BEGIN + Buffer.from(JSON.stringify(parts)).toString('base64url');
}

export function readTaskToken(text: string): Task {
  if (text === '') throw invalidField('task_token', 'is required: send the one that came with the job.');
  const parts = text.length <= LONGEST && text.startsWith(BEGIN) ? partsOf(text.slice(BEGIN.length)) : undefined;
  const [jobId, queue, leaseToken] = parts ?? [];
  if (
    jobId === undefined ||
    queue === undefined ||
    leaseToken === undefined ||
    !isJobId(jobId) ||
    !(hasTokenForm(leaseToken) || hasSignedForm(leaseToken))
  )
    throw invalidField('task_token', 'was not made by this system.');
  return { jobId, queue, leaseToken };
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

function partsOf(text: string): string[] | undefined {
  if (!BASE64URL.test(text)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isList = Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === 'string');
    return isList ? parts : undefined;
  } catch {
    return undefined;
  }
}
