import { createHmac } from 'node:crypto';
import type { WebhookValue } from './service.ts';

const PREFIX = 'whsec_';

/** What is signed: as https://www.standardwebhooks.com says it. */
export interface Signed {
  id: string;
  /** Seconds since the epoch. */
  timestamp: number;
  body: string;
}

/** One signature for each secret that counts now, the newest first: receivers take the delivery if one of them is right. */
export function signatures(secrets: WebhookValue['secrets'], signed: Signed, now: number): string {
  return secrets
    .filter(({ until }) => until === undefined || until > now)
    .map(({ secret }) => `v1,${signatureOf(secret, signed)}`)
    .join(' ');
}

const signatureOf = (secret: string, { id, timestamp, body }: Signed): string =>
  createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');

/** `whsec_` and base64, as libraries for receivers expect it; anything else is taken as it is. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
