import { keyToWire, TENANT_HEADER } from '@waybill/client';
import { ALL_TENANTS, type ApiKey, checkTenant, invalidField, type Keys, WaybillError } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { pathText } from '../http/path-text.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { PAGE_PARAMETERS, pageOf } from '../ojs/pagination.ts';
import type { Surface } from '../surface.ts';
import { KEY_FIELDS, readKeyRequest } from './key-request.ts';

const PATH = '/waybill/v1/keys';
/** The same bound as everywhere else where a length of time is sent. */
const LONGEST_KEPT_MS = 366 * 86_400_000;

/** API keys: made, listed, rotated and revoked by whoever may do everything. `tenant=*` is for operators. */
export function keyRoutes(app: App, { maxBodyBytes, clock }: Surface): void {
  app.post(PATH, async (c) => {
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(KEY_FIELDS);
    const request = readKeyRequest(body);
    // The engine refuses this too, under the name that the field has there.
    if (typeof request.expiresAt === 'number' && request.expiresAt <= clock.now())
      throw invalidField('expires_at', 'must lie in the future.');
    const made = await keysOf(c).create(request, named(c, body.string('tenant', { max: 128 })));
    c.header('Location', `${PATH}/${made.key.id}`);
    return secretly(c, made, 201);
  });

  app.get(PATH, async (c) => {
    const query = new Query(c, ['tenant', ...PAGE_PARAMETERS]);
    const { items, pagination } = pageOf(query, await keysOf(c).list(named(c, query.string('tenant'))));
    return answer(c, { keys: items.map(keyToWire), pagination });
  });

  app.get(`${PATH}/:id`, async (c) => {
    const key = await keysOf(c).get(pathText(c, 'id'), namedInQuery(c));
    return answer(c, { key: keyToWire(key) });
  });

  app.post(`${PATH}/:id/rotate`, async (c) => {
    const [id, whose] = [pathText(c, 'id'), namedInQuery(c)];
    const body = await readOptionalBody(c, maxBodyBytes);
    body.refuseUnknown(['keep_old']);
    const keepOldMs = body.duration('keep_old', { max: LONGEST_KEPT_MS });
    return secretly(c, await keysOf(c).rotate(id, { ...whose, ...(keepOldMs !== undefined && { keepOldMs }) }));
  });

  app.delete(`${PATH}/:id`, async (c) => {
    const key = await keysOf(c).revoke(pathText(c, 'id'), namedInQuery(c));
    return answer(c, { key: keyToWire(key) });
  });
}

/** Nothing between the server and the caller may keep an answer with a secret. */
function secretly(c: Ctx, { key, secret }: { key: ApiKey; secret: string }, status: 200 | 201 = 200): Response {
  c.header('Cache-Control', 'no-store');
  return answer(c, { key: keyToWire(key), secret }, status);
}

const namedInQuery = (c: Ctx) => named(c, new Query(c, ['tenant']).string('tenant'));

/** The tenant that a call names besides the header. The port decides who may name which; two different ones are a mistake. */
function named(c: Ctx, tenant: string | undefined): { tenant?: string } {
  if (tenant === undefined) return {};
  if (tenant !== ALL_TENANTS) checkTenant(tenant);
  const header = c.req.header(TENANT_HEADER);
  if (header !== undefined && header !== tenant)
    throw invalidField('tenant', `names another tenant than the header ${TENANT_HEADER}.`);
  return { tenant };
}

function keysOf(c: Ctx): Keys {
  const { keys } = portOf(c);
  if (keys) return keys;
  throw new WaybillError('unsupported', 'This server keeps no keys: they are given to it, or kept by another one.', {
    hint: 'Change them where they are kept.',
  });
}
