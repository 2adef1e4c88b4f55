import { toRfc3339 } from '@waybill/client';
import {
  ALL_TENANTS,
  checkKeyRequest,
  checkTenant,
  hashOfSecret,
  type KeyRequest,
  newKeyId,
  newSecret,
  parseMoment,
  SCOPES,
} from '@waybill/core';
import { command, misuse, type Values } from '../command.ts';
import type { Context } from '../context.ts';
import { KEY_TENANT, openKeys } from '../open-keys.ts';
import { readInteger, readList, readListOf, readSpan } from '../read-value.ts';
import { factsOf, showKeyWithSecret, showSecret } from '../shown-key.ts';

const OPTIONS = {
  scopes: { value: 'LIST', about: `what its holder may do: ${SCOPES.join(', ')}; required` },
  queues: { value: 'LIST', about: 'queues that its holder sees', default: 'all' },
  types: { value: 'LIST', about: 'types of jobs that its holder sees', default: 'all' },
  expires: { value: 'SPAN', about: 'when it ends: 90d, PT12H, 2030-01-31T12:00:00Z', default: 'never' },
  'requests-per-minute': {
    value: 'N',
    about: 'requests that a server takes from it',
    default: 'as many as from anybody',
  },
  'print-entry': { about: 'store nothing; print an entry for a list of keys (--keys, WAYBILL_KEYS)' },
  tenant: KEY_TENANT,
} as const;

export const keysCreate = command({
  name: 'keys create',
  section: 'Care',
  summary: 'make an API key; its secret is the last line, and is shown once',
  args: 'NAME',
  options: OPTIONS,
  notes: `Only a hash of the secret is stored. The secret is alone in the last line of the output:

  secret=$(waybill keys create ci --scopes enqueue,read --expires 90d | tail -1)`,
  run: async ({ args: [name = ''], values }, context) => {
    const request = readRequest(name, values, context);
    if (values['print-entry']) {
      printEntry(request, context);
      return 0;
    }
    const { keys, whose } = await openKeys(context, { create: true });
    showKeyWithSecret(context, await keys.create(request, { ...whose, by: 'cli' }));
    return 0;
  },
});

function readRequest(name: string, values: Values<typeof OPTIONS>, { io }: Context): KeyRequest {
  const { scopes, queues, types, expires, 'requests-per-minute': most } = values;
  if (scopes === undefined) throw misuse(`'waybill keys create' needs --scopes: some of ${SCOPES.join(', ')}.`);
  return {
    name,
    scopes: readListOf('--scopes', scopes, SCOPES),
    ...(queues !== undefined && { queues: readList('--queues', queues) }),
    ...(types !== undefined && { types: readList('--types', types) }),
    ...(expires !== undefined && { expiresAt: readEnd(expires, io.now()) }),
    ...(most !== undefined && { requestsPerMinute: readInteger('--requests-per-minute', most) }),
  };
}

function readEnd(text: string, now: number): number {
  const end = parseMoment(text) ?? now + readSpan('--expires', text);
  if (end > now) return end;
  throw misuse('--expires must lie in the future.');
}

/** For servers without a store of keys: what they need is the hash alone. */
function printEntry(request: KeyRequest, context: Context): void {
  const { tenant = '' } = context;
  if (tenant !== ALL_TENANTS) checkTenant(tenant);
  checkKeyRequest(request, tenant, context.io.now());
  const { expiresAt = null, requestsPerMinute, ...rest } = request;
  const id = newKeyId();
  const secret = newSecret(id);
  const entry = {
    ...{ id, ...rest, sha256: hashOfSecret(secret) },
    ...(tenant !== '' && { tenant }),
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(expiresAt !== null && { expires_at: toRfc3339(expiresAt) }),
  };
  const facts = () => factsOf({ ...request, id, tenant, expiresAt }, context);
  showSecret(context, { entry }, secret, () => `${facts()}\n${JSON.stringify(entry, null, 2)}\n`);
}
