import { newJobId, WaybillError } from '@waybill/core';
import type { MiddlewareHandler } from 'hono';
import type { Env } from './env.ts';

export const MEDIA_TYPE = 'application/openjobspec+json';
export const OJS_VERSION = '1.0';

/** For a year. Not for names below this one: they may belong to others. */
const TRANSPORT_SECURITY = 'max-age=31536000';

const SPOKEN_VERSION = /^1(\.[0-9A-Za-z.-]+)?$/;

/** Longer or unprintable ones could break logs and header rules further on, so they are replaced. */
const SANE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Puts the headers on every answer that the specification wants there, refusals and unknown routes included. */
export function standardHeaders(): MiddlewareHandler<Env> {
  return async (c, next) => {
    const sent = c.req.header('X-Request-Id');
    const requestId = sent !== undefined && SANE_REQUEST_ID.test(sent) ? sent : `req_${newJobId(Date.now())}`;
    c.set('requestId', requestId);
    c.header('X-Request-Id', requestId);
    c.header('OJS-Version', OJS_VERSION);
    // What a caller has stored and another one opens must not be taken for a page.
    c.header('X-Content-Type-Options', 'nosniff');
    if (c.env?.isHttps) c.header('Strict-Transport-Security', TRANSPORT_SECURITY);
    checkVersion(c.req.header('OJS-Version'));
    await next();
  };
}

function checkVersion(asked: string | undefined): void {
  if (asked === undefined || SPOKEN_VERSION.test(asked)) return;
  throw new WaybillError('unsupported', 'This server speaks version 1 of the Open Job Spec.', {
    details: { header: 'OJS-Version', supported: [OJS_VERSION] },
    hint: `Send OJS-Version: ${OJS_VERSION}, or leave the header out.`,
  });
}
