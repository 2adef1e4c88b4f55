import type { Clock } from '../../clock.ts';
import { WaybillError } from '../../errors.ts';
import type { Told } from '../../events/subject-event.ts';
import { ALL_TENANTS } from '../../store/event-log.ts';
import { type RecordStore, type StoredRecord, SYSTEM_TENANT } from '../../store/records.ts';
import { tokenKeyStore } from '../../task-tokens/token-keys.ts';
import type { Keys } from '../../waybill.ts';
import { checkKeepOld, checkKeyRequest, keyFromRecord, keyToRecord, type StoredKey, shownKey } from './key.ts';
import { KeyCache } from './key-cache.ts';
import { hashOf, isKeyId, newKeyId, newSecret } from './key-secret.ts';
import { sessionStore } from './session-store.ts';

const KIND = 'key';
/** Apart from the key, so that noting a use never meets a change of the key. */
const USE_KIND = 'key-use';
const PAGE = 1_000;
const READ_AT_ONCE = 100;
/** A key that was revoked or has expired is listed this much longer. */
const LISTED_AFTERWARDS_MS = 30 * 86_400_000;

interface KeyBookParts {
  store: { records: RecordStore; clock: Clock };
  onTold(): void;
}

/**
 * API keys as records. They stand in the tenant of the system, since a key is looked up before it is known whose it is;
 * each one names the tenant that it is for.
 */
export function keyBook({ store, onTold }: KeyBookParts): Keys {
  const { records, clock } = store;

  const recordOf = async (id: string): Promise<StoredRecord | null> => {
    const [record] = await records.get([{ tenant: SYSTEM_TENANT, kind: KIND, id }]);
    return record ?? null;
  };

  const cache = new KeyCache({
    clock,
    find: async (id) => {
      const record = await recordOf(id);
      return record && keyFromRecord(record.value);
    },
    noteUse: async (id, at) => {
      const [before] = await records.get([{ tenant: SYSTEM_TENANT, kind: USE_KIND, id }]);
      // A conflict means that another server has just noted a use.
      await records.put([
        {
          ...{ tenant: SYSTEM_TENANT, kind: USE_KIND, id, value: { at }, expected: before?.version ?? 0 },
          expiresAt: at + 365 * 86_400_000,
        },
      ]);
    },
  });

  /** A note that is damaged costs the others nothing, and its key no more than the moment of its last use. */
  const notesOf = async (ids: readonly string[]): Promise<(StoredRecord | null)[]> => {
    try {
      return await records.get(ids.map((id) => ({ tenant: SYSTEM_TENANT, kind: USE_KIND, id })));
    } catch {
      if (ids.length <= 1) return [];
      const half = ids.length >> 1;
      return [...(await notesOf(ids.slice(0, half))), ...(await notesOf(ids.slice(half)))];
    }
  };

  const usesOf = async (ids: readonly string[]): Promise<Map<string, number>> => {
    const found: (StoredRecord | null)[] = [];
    for (let from = 0; from < ids.length; from += READ_AT_ONCE)
      found.push(...(await notesOf(ids.slice(from, from + READ_AT_ONCE))));
    return new Map(found.flatMap((one) => (one ? [[one.id, one.value['at'] as number]] : [])));
  };

  const shown = async (key: StoredKey) => shownKey(key, (await usesOf([key.id])).get(key.id) ?? null);

  const mustFind = async (id: string, tenant: string): Promise<{ key: StoredKey; version: number }> => {
    const record = isKeyId(id) ? await recordOf(id) : null;
    const key = record && keyFromRecord(record.value);
    if (!record || !key || (tenant !== ALL_TENANTS && key.tenant !== tenant)) throw keyNotFound(id);
    return { key, version: record.version };
  };

  const write = async (key: StoredKey, expected: number, fact: 'created' | 'rotated' | 'revoked', by?: string) => {
    const at = clock.now();
    const end = key.revokedAt ?? key.expiresAt;
    const told: Told = {
      ...{ type: `key.${fact}`, tenant: SYSTEM_TENANT, subject: key.id, at },
      data: { name: key.name, tenant: key.tenant, scopes: [...key.scopes], ...(by !== undefined && { by }) },
    };
    const [answer] = await records.put([
      {
        ...{ tenant: SYSTEM_TENANT, kind: KIND, id: key.id, value: keyToRecord(key), expected, told },
        expiresAt: end === null ? null : end + LISTED_AFTERWARDS_MS,
      },
    ]);
    if (answer!.status === 'conflict') throw changed(key.id);
    cache.forget(key.id);
    onTold();
  };

  return {
    create: async (request, { tenant = '', by } = {}) => {
      const now = clock.now();
      checkKeyRequest(request, tenant, now);
      const { name, scopes, queues, types, requestsPerMinute, expiresAt = null } = request;
      const id = newKeyId();
      const secret = newSecret(id);
      const key: StoredKey = {
        ...{ id, name, tenant, scopes: [...new Set(scopes)], createdAt: now, expiresAt, hash: hashOf(secret) },
        ...{ rotatedAt: null, revokedAt: null, before: null },
        ...(queues && { queues: [...new Set(queues)] }),
        ...(types && { types: [...new Set(types)] }),
        ...(requestsPerMinute !== undefined && { requestsPerMinute }),
        ...(by !== undefined && { createdBy: by }),
      };
      await write(key, 0, 'created', by);
      return { key: shownKey(key, null), secret };
    },
    list: async ({ tenant = '' } = {}) => {
      const keys: StoredKey[] = [];
      let cursor: string | undefined;
      do {
        const page = await records.list({
          ...{ tenant: SYSTEM_TENANT, kind: KIND, limit: PAGE },
          ...(cursor !== undefined && { cursor }),
        });
        keys.push(...page.items.flatMap(({ value }) => keyFromRecord(value) ?? []));
        cursor = page.cursor;
      } while (cursor !== undefined);
      const own = keys.filter((key) => tenant === ALL_TENANTS || key.tenant === tenant);
      const uses = await usesOf(own.map(({ id }) => id));
      return own
        .map((key) => shownKey(key, uses.get(key.id) ?? null))
        .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
    },
    get: async (id, { tenant = '' } = {}) => shown((await mustFind(id, tenant)).key),
    rotate: async (id, { tenant = '', by, keepOldMs = 0 } = {}) => {
      checkKeepOld(keepOldMs);
      const { key, version } = await mustFind(id, tenant);
      const now = clock.now();
      // Nobody could use the new secret.
      if (key.revokedAt !== null) throw ended(id, 'is revoked');
      if (key.expiresAt !== null && key.expiresAt <= now) throw ended(id, 'has expired');
      const secret = newSecret(id);
      const before = keepOldMs > 0 ? { hash: key.hash, until: now + keepOldMs } : null;
      const rotated = { ...key, hash: hashOf(secret), before, rotatedAt: now };
      await write(rotated, version, 'rotated', by);
      return { key: await shown(rotated), secret };
    },
    revoke: async (id, { tenant = '', by } = {}) => {
      const { key, version } = await mustFind(id, tenant);
      if (key.revokedAt !== null) return shown(key);
      const revoked = { ...key, revokedAt: clock.now(), before: null };
      await write(revoked, version, 'revoked', by);
      return shown(revoked);
    },
    identify: (secret) => cache.identify(secret),
    sessions: sessionStore(records, (id, hash) => cache.holderBy(id, hash)),
    taskTokens: tokenKeyStore(records, clock),
  };
}

const keyNotFound = (id: string): WaybillError =>
  isKeyId(id)
    ? new WaybillError('not_found', `There is no key '${id}'.`, {
        details: { id },
        hint: 'Check the id, and the tenant: a key of another tenant is not found.',
      })
    : new WaybillError('not_found', 'There is no key with this id.', {
        hint: 'The id of a key has 12 characters; in its secret it stands between wb_ and the next underscore.',
      });

const ended = (id: string, how: string): WaybillError =>
  new WaybillError('conflict', `The key '${id}' ${how}.`, { hint: 'Create a new one.' });

const changed = (id: string): WaybillError =>
  new WaybillError('conflict', `The key '${id}' was changed meanwhile.`, { hint: 'Repeat the call.' });
