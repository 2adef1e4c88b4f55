import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { type RecordStore, SYSTEM_TENANT } from '../store/records.ts';

/** A secret that task tokens are signed with. Its id is in each token, and tells nothing of the secret. */
export interface TokenKey {
  id: string;
  secret: Uint8Array;
  /** Before this time no server signs with it. */
  signsFrom: number;
}

/** Where a server has the keys from, the newest first. The first one whose time has come signs; all of them are accepted. */
export interface TokenKeySource {
  /** Never empty. */
  read(): Promise<readonly TokenKey[]>;
}

/** Keys that all servers of a store share. They are made when a server first asks for them. */
export interface TokenKeyStore extends TokenKeySource {
  /**
   * Adds a key. All servers accept it before one of them signs with it. The key before is accepted until the next rotation, which is
   * refused with `conflict` before `nextFrom`.
   */
  rotate(): Promise<TokenRotation>;
}

export interface TokenRotation {
  /** When servers begin to sign with the new key. */
  signsFrom: number;
  /** When the key before has been accepted for long enough to be replaced; at once where there is none. */
  nextFrom: number;
}

/** A server that shares a rotated record knows its new key after this time at the latest. */
export const KEYS_CACHED_MS = 60_000;
/** The second minute is for clocks that differ. */
const SIGNS_AFTER_MS = 2 * KEYS_CACHED_MS;
/** What was signed last with the key before is accepted for at least so long, as long as `DequeueJobs` holds a job. */
const ACCEPTED_MS = 300_000;

const KIND = 'token-key';
const RECORD = { tenant: SYSTEM_TENANT, kind: KIND, id: 'task-tokens' };
const SECRET_BYTES = 32;
/** While it is rotated, the old key and the new one are accepted. */
const MOST_KEYS = 2;
/** Rivals of one put; each try means that another server has stored its keys. */
const TRIES = 5;

const keyOf = (secret: Uint8Array, signsFrom = 0): TokenKey => ({
  id: createHash('sha256').update('task token key').update(secret).digest('hex').slice(0, 8),
  secret,
  signsFrom,
});

/** The keys of a configured secret: one text, or two with a comma between them while it is rotated, the new one first. */
export function configuredTokenKeys(text: string): TokenKeySource {
  const secrets = text.split(',').map((secret) => Buffer.from(secret.trim()));
  if (secrets.length > MOST_KEYS)
    throw invalidField('tokenSecret', 'must have one secret, or two while it is rotated.');
  if (secrets.some(({ length }) => length < SECRET_BYTES))
    throw invalidField('tokenSecret', `must have at least ${SECRET_BYTES} bytes in each secret.`);
  const keys = secrets.map((secret) => keyOf(secret));
  return { read: async () => keys };
}

/** As one record of the system's tenant, so that every server of the store accepts the tokens of the others. */
export function tokenKeyStore(records: RecordStore, clock: Clock): TokenKeyStore {
  async function load(): Promise<{ version: number; keys: TokenKey[] }> {
    const [record] = await records.get([RECORD]);
    if (!record) return { version: 0, keys: [] };
    const { secrets = [], signs_from: signsFrom = 0 } = record.value as { secrets?: string[]; signs_from?: number };
    const keys = secrets.map((secret, index) => keyOf(Buffer.from(secret, 'base64'), index === 0 ? signsFrom : 0));
    return { version: record.version, keys };
  }

  /** Puts a new key before those that are there, unless there is one and none has to be added. */
  async function make(isEnough: (keys: readonly TokenKey[]) => boolean): Promise<readonly TokenKey[]> {
    for (let tries = 0; tries < TRIES; tries++) {
      const { version, keys: known } = await load();
      if (isEnough(known)) return known;
      const now = clock.now();
      const signsFrom = known.length === 0 ? now : now + SIGNS_AFTER_MS;
      const keys = [keyOf(randomBytes(SECRET_BYTES), signsFrom), ...known].slice(0, MOST_KEYS);
      const secrets = keys.map(({ secret }) => Buffer.from(secret).toString('base64'));
      const value = { secrets, changed_at: now, signs_from: signsFrom };
      const [answer] = await records.put([{ ...RECORD, value, expected: version }]);
      if (answer!.status === 'stored') return keys;
    }
    throw new WaybillError('conflict', 'The key for task tokens was changed by another server at the same time.', {
      hint: 'Repeat the call.',
    });
  }

  return {
    read: () => make((keys) => keys.length > 0),
    rotate: async () => {
      // The first key of a store has none before it that servers still sign with.
      const [newest, before] = await make(([known, replaced]) => {
        if (known && replaced && clock.now() < nextAfter(known)) throw tooSoon(known);
        return false;
      });
      return { signsFrom: newest!.signsFrom, nextFrom: before ? nextAfter(newest!) : newest!.signsFrom };
    },
  };
}

const nextAfter = ({ signsFrom }: TokenKey): number => signsFrom + ACCEPTED_MS;

const tooSoon = (key: TokenKey): WaybillError =>
  new WaybillError(
    'conflict',
    'The last rotation of the key for task tokens is not over: the key before is still needed.',
    {
      hint: `Rotate again after ${new Date(nextAfter(key)).toISOString()}.`,
    },
  );
