import { ERROR_TABLE, errorToWire } from '@waybill/client';
import type { WaybillError } from '@waybill/core';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Ctx } from './env.ts';
import { MEDIA_TYPE } from './headers.ts';

/** Every answer with a body goes through here, so that its media type is exactly the specified one. */
export function answer(c: Ctx, body: object, status: ContentfulStatusCode = 200): Response {
  return c.body(JSON.stringify(body), status, { 'Content-Type': MEDIA_TYPE });
}

const RETRY_AFTER_SECONDS = '1';

export function refuse(c: Ctx, error: WaybillError, status: number = ERROR_TABLE[error.code].status): Response {
  if (error.retryable) c.header('Retry-After', RETRY_AFTER_SECONDS);
  const wire = errorToWire(error, c.get('requestId'), new URL(c.req.url).origin);
  return answer(c, wire, status as ContentfulStatusCode);
}
