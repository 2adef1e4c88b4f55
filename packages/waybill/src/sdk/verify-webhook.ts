import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WireEvent } from '@waybill/client';
import { WaybillError } from '@waybill/core';

/** Of `fetch` and its like, or of node:http; names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How old a delivery may be, and how far ahead its clock. @defaultValue 300_000 */
  toleranceMs?: number;
  /** @defaultValue the clock of this machine */
  now?: number;
}

const TOLERANCE_MS = 300_000;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
/** More are never sent; each costs a comparison. */
const MOST_SIGNATURES = 20;

/**
 * Checks that a delivery comes from whoever knows the secret, and that it is not an old one sent again. Answers the event.
 * Refuses with a WaybillError of the code `unauthenticated`. The body must be as it was received, byte for byte.
 * The form is that of Standard Webhooks, so that libraries for it do the same.
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string,
  { toleranceMs = TOLERANCE_MS, now = Date.now() }: VerifyOptions = {},
): WireEvent {
  const key = keyOf(secret);
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new WaybillError('invalid_request', 'verifyWebhook() needs the body as it was received.', {
      hint: 'Pass the text or the bytes, before anything has parsed them.',
    });
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  // Signed before its age is looked at: of an unsigned timestamp nothing is known.
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  if (!isAmong(signed, signatures)) throw refused('No signature of this delivery is right.');
  const at = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : Number.NaN;
  if (!(Math.abs(now - at) <= toleranceMs)) throw refused('The timestamp of this delivery is too far from now.');
  return parsed(body);
}

function keyOf(secret: string): Buffer {
  const base64 = SECRET.exec(secret)?.[1];
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  // Not quoted: it may be the right secret with a typing error.
  throw new WaybillError('invalid_request', 'The secret of a webhook begins with whsec_ and is base64 behind that.');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isGetter(headers) ? headers.get(name) : fieldOf(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw refused(`This request has no header ${name}.`);
}

const isGetter = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers['get'] === 'function';

function fieldOf(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string) {
  const found = Object.keys(headers).find((key) => key.toLowerCase() === name);
  const value = found === undefined ? undefined : headers[found];
  return Array.isArray(value) ? value.join(' ') : value;
}

/** In constant time for each; while a secret is rotated there are several. */
function isAmong(signed: Buffer, signatures: string): boolean {
  return signatures
    .split(' ', MOST_SIGNATURES)
    .map((one) => {
      const [version, text = ''] = one.split(',', 2);
      const given = Buffer.from(text, 'base64');
      return version === 'v1' && given.length === signed.length && timingSafeEqual(given, signed);
    })
    .includes(true);
}

function parsed(body: string | Uint8Array): WireEvent {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as WireEvent;
  } catch {
    throw refused('The body of this delivery is no JSON.');
  }
}

const refused = (message: string): WaybillError => new WaybillError('unauthenticated', message);
