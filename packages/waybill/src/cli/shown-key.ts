import { keyToWire } from '@waybill/client';
import { ALL_TENANTS, type ApiKey } from '@waybill/core';
import type { Context } from './context.ts';
import { away } from './spans.ts';
import { type Pair, pairs } from './table.ts';

/** Whether it counts at this moment. */
export function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

export const tenantText = (tenant: string): string => (tenant === ALL_TENANTS ? 'all' : tenant === '' ? '-' : tenant);

export const narrowingOf = ({ queues, types }: Pick<ApiKey, 'queues' | 'types'>): string | undefined => {
  const parts = [queues && `queues ${queues.join(', ')}`, types && `types ${types.join(', ')}`];
  return parts.filter(Boolean).join('; ') || undefined;
};

/** Everything that a key is held to besides its scopes. */
export const boundsOf = (key: Pick<ApiKey, 'queues' | 'types' | 'requestsPerMinute'>): string | undefined => {
  const most = key.requestsPerMinute;
  return [narrowingOf(key), most !== undefined && `${most}/min`].filter(Boolean).join('; ') || undefined;
};

type Facts = Pick<ApiKey, 'id' | 'name' | 'tenant' | 'scopes' | 'queues' | 'types' | 'requestsPerMinute' | 'expiresAt'>;

const pairsOf = (key: Facts, now: number): Pair[] => {
  const { id, name, tenant, scopes, requestsPerMinute: most, expiresAt } = key;
  return [
    ['id', id],
    ['name', name],
    ['tenant', tenant === '' ? undefined : tenantText(tenant)],
    ['scopes', scopes.join(', ')],
    ['only', narrowingOf(key)],
    ['requests', most === undefined ? undefined : `${most} per minute`],
    ['expires', expiresAt === null ? 'never' : away(expiresAt, now)],
  ];
};

export const factsOf = (key: Facts, context: Context): string => pairs(pairsOf(key, context.io.now()), context);

/** With what has become of it since it was made. */
export function allFactsOf(key: ApiKey, context: Context): string {
  const now = context.io.now();
  const at = (moment: number) => away(moment, now);
  const { createdAt, createdBy, rotatedAt, revokedAt, lastUsedAt } = key;
  return pairs(
    [
      ...pairsOf(key, now),
      ['state', stateOf(key, now), context.style.state],
      ['created', `${at(createdAt)}${createdBy ? ` by ${createdBy}` : ''}`],
      ['rotated', rotatedAt === null ? undefined : at(rotatedAt)],
      ['revoked', revokedAt === null ? undefined : at(revokedAt)],
      ['used', lastUsedAt === null ? 'never' : at(lastUsedAt)],
    ],
    context,
  );
}

/** The secret comes last, alone and uncut, so that `| tail -1` is the secret whatever stands before it. */
export function showSecret(context: Context, document: object, secret: string, text: () => string): void {
  context.show({ ...document, secret }, () => `${text()}\nKeep the secret now, it is not shown again:\n`);
  if (!context.isJson) context.io.stdout.write(`${secret}\n`);
}

export const showKeyWithSecret = (context: Context, { key, secret }: { key: ApiKey; secret: string }): void =>
  showSecret(context, { key: keyToWire(key) }, secret, () => factsOf(key, context));
