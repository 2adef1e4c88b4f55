import { toRfc3339 } from '@waybill/client';
import { ALL_TENANTS, type Clock, invalidField, WaybillError } from '@waybill/core';
import type { Auditor } from '../audit/auditor.ts';
import { answer } from '../http/answer.ts';
import { readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { AttemptLimit } from './attempt-limit.ts';
import { secretIn } from './credentials.ts';
import type { Identified } from './identified.ts';
import type { Identifier } from './identify.ts';
import type { RequestLimits } from './request-limits.ts';
import type { Shown } from './session-cookies.ts';

interface SessionSurface {
  /** Undefined: nobody has to say who they are. */
  identifier: Identifier | undefined;
  limits: RequestLimits;
  sessionMs: number;
  clock: Clock;
  auditor: Auditor;
}

/** Anybody may send one, and a key or token is not longer. */
const MOST_BODY_BYTES = 16_384;

/** Stands before authentication: here a key is exchanged for a session. */
export function loginRoute(app: App, { identifier, limits, sessionMs, clock, auditor }: SessionSurface): void {
  const attempts = new AttemptLimit(clock);
  app.post('/auth/session', async (c) => {
    const sessions = identifier?.sessions;
    if (!identifier || !sessions) throw noSessions();
    attempts.begin(c);
    const key = await exchanged(c, identifier).catch((error: unknown) => {
      // A store that is away says nothing about the key.
      if (WaybillError.from(error).retryable) attempts.takeBack(c);
      throw error;
    });
    if (!('who' in key)) throw await identifier.refusal(c, key.secret);
    attempts.takeBack(c);
    // Each one is a record, so they are bounded as all other requests of a key.
    limits.count(c, key.who);
    const found = await sessions.begin(c, key, sessionMs, clock.now());
    await told(c, auditor, key.who, 'sessions.start');
    c.header('Cache-Control', 'no-store');
    return answer(c, shown(found), 201);
  });
}

/** Behind authentication. */
export function sessionRoutes(app: App, { identifier, auditor }: SessionSurface): void {
  app.get('/auth/session', (c) => {
    const caller = c.get('caller');
    c.header('Cache-Control', 'no-store');
    return answer(c, caller ? shown(caller) : { by: 'nobody', principal: null, expires_at: null });
  });

  app.delete('/auth/session', async (c) => {
    if (!identifier?.sessions) throw noSessions();
    const caller = c.get('caller')!;
    if (caller.by !== 'session') {
      throw new WaybillError('invalid_request', 'This request shows a key, and has no session to end.', {
        hint: 'Send the cookie of the session, and no key.',
      });
    }
    await identifier.sessions.end(c);
    await told(c, auditor, caller, 'sessions.end');
    return answer(c, { by: 'nobody', principal: null, expires_at: null });
  });
}

async function told(c: Ctx, auditor: Auditor, { principal, name }: Identified, action: string): Promise<void> {
  const tenant = principal.tenant === ALL_TENANTS ? '' : principal.tenant;
  const circumstances = { tenant, name, requestId: c.get('requestId'), address: c.env?.clientAddress };
  await auditor.tellFor(principal, circumstances)?.({ action, outcome: 'ok' });
}

/** Who shows the key of the request: in its body, or in its headers. Without `who`: a caller that is not known. */
async function exchanged(c: Ctx, identifier: Identifier): Promise<Shown | { secret: string | undefined }> {
  const body = await readOptionalBody(c, MOST_BODY_BYTES);
  body.refuseUnknown(['key']);
  const given = body.string('key', { max: MOST_BODY_BYTES });
  const header = secretIn(c.req);
  if (given !== undefined && header !== undefined && given !== header)
    throw invalidField('key', 'is another one than that of the headers. Send one of them.');
  const secret = given ?? header;
  const who = secret === undefined ? null : await identifier.ofSecret(secret);
  return who ? { who, secret: secret! } : { secret };
}

function shown({ principal, by, name, expiresAt, csrfToken }: Identified): object {
  const { id, tenant, scopes, queues, types } = principal;
  return {
    by,
    principal: {
      ...{ id, tenant, scopes, ...(name !== undefined && { name }) },
      ...(queues && { queues }),
      ...(types && { types }),
    },
    expires_at: expiresAt === null ? null : toRfc3339(expiresAt),
    ...(csrfToken !== undefined && { csrf_token: csrfToken }),
  };
}

const noSessions = (): WaybillError =>
  new WaybillError('unsupported', 'This server has no sessions.', {
    hint: 'Start it with --auth, or send the key with each request.',
  });
