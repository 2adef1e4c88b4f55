import { type Fields, invalidField, type KeyRequest, SCOPES } from '@waybill/core';
import { readMoment } from '../http/moment.ts';

/** What a key may be given, in a request and in a list of keys. */
export const KEY_FIELDS = ['name', 'scopes', 'tenant', 'queues', 'types', 'requests_per_minute', 'expires_at'] as const;

const MOST_SCOPES = 20;
const MOST_NAMED = 100;
export const MOST_REQUESTS = 1_000_000;

/** Reads what is written of a key; the engine checks what the values mean together. */
export function readKeyRequest(body: Fields): KeyRequest {
  const name = body.requiredString('name');
  const scopes = body.strings('scopes', { max: MOST_SCOPES });
  if (scopes === undefined || scopes.length === 0)
    throw invalidField(body.name('scopes'), `must name at least one of ${SCOPES.join(', ')}.`, { allowed: SCOPES });
  const [queues, types] = [body.strings('queues', { max: MOST_NAMED }), body.strings('types', { max: MOST_NAMED })];
  const requestsPerMinute = body.integer('requests_per_minute', { min: 1, max: MOST_REQUESTS });
  const expiresAt = readMoment(body.name('expires_at'), body.string('expires_at'));
  return {
    ...{ name, scopes: scopes as unknown as KeyRequest['scopes'] },
    ...(queues !== undefined && { queues }),
    ...(types !== undefined && { types }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
