import { randomBytes } from 'node:crypto';
import { invalidField } from '@waybill/core';

const BEGIN = 'whsec_';
const BYTES = 32;
/** As Standard Webhooks has it. */
const BOUNDS = { least: 24, most: 64 };
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const newWebhookSecret = (): string => BEGIN + randomBytes(BYTES).toString('base64');

/** A secret that the caller brings along. The refusal does not quote it. */
export function checkWebhookSecret(secret: string, field = 'secret'): string {
  const text = secret.startsWith(BEGIN) ? secret.slice(BEGIN.length) : '';
  const { length } = Buffer.from(text, 'base64');
  if (BASE64.test(text) && length >= BOUNDS.least && length <= BOUNDS.most) return secret;
  throw invalidField(
    field,
    `must be ${BEGIN} and the base64 of ${BOUNDS.least} to ${BOUNDS.most} random bytes. Leave it out to let the server make one.`,
  );
}
