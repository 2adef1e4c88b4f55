import { ERROR_TABLE, errorToWire } from '@waybill/client';
import { WaybillError, withoutSecrets } from '@waybill/core';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Ctx } from './env.ts';
import { MEDIA_TYPE } from './headers.ts';

/** Every answer with a body goes through here, so that its media type is exactly the specified one. */
export function answer(c: Ctx, body: object, status: ContentfulStatusCode = 200): Response {
  return c.body(JSON.stringify(body), status, { 'Content-Type': MEDIA_TYPE });
}

/** This server as its client names it. */
function originOf(c: Ctx): string {
  const { protocol, host } = new URL(c.req.url);
  const isHttps = c.env?.isHttps ?? protocol === 'https:';
  return `${isHttps ? 'https' : 'http'}://${c.env?.forwardedHost ?? host}`;
}

/** Where the refusal does not say when the call may succeed. */
const RETRY_AFTER_SECONDS = 1;

function retryAfter({ details }: WaybillError): string {
  const ms = details?.['retry_after_ms'];
  return String(typeof ms === 'number' ? Math.max(1, Math.ceil(ms / 1_000)) : RETRY_AFTER_SECONDS);
}

export function refuse(c: Ctx, error: WaybillError, status: number = ERROR_TABLE[error.code].status): Response {
  if (error.retryable) c.header('Retry-After', c.get('retryAfter') ?? retryAfter(error));
  if (error.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
  const wire = errorToWire(withoutSecretsIn(error), c.get('requestId'), originOf(c));
  return answer(c, wire, status as ContentfulStatusCode);
}

/** A refusal may tell what the caller sent, or what a driver said: neither is known to be free of secrets. */
export function withoutSecretsIn({ code, message, hint, details }: WaybillError): WaybillError {
  return new WaybillError(code, withoutSecrets(message), {
    ...(hint !== undefined && { hint: withoutSecrets(hint) }),
    ...(details !== undefined && { details: JSON.parse(JSON.stringify(details), textsShown) }),
  });
}

const textsShown = (_: string, value: unknown): unknown => (typeof value === 'string' ? withoutSecrets(value) : value);
