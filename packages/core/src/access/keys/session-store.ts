import { createHash, randomBytes } from 'node:crypto';
import { WaybillError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { type RecordStore, SYSTEM_TENANT } from '../../store/records.ts';
import type { KeyHolder } from './key.ts';

/** Sessions of browsers, for servers: what one stands for is known to the server that has begun it. */
export interface Sessions {
  /** The token is in this answer and nowhere else: only its hash is stored. */
  create(contentFor: (token: string) => JsonObject, expiresAt: number): Promise<{ token: string }>;
  /** Null: there is no such session, or it has ended. */
  find(token: string): Promise<JsonObject | null>;
  /** Who holds the key with this id by the secret with this hash; null: nobody any more. */
  holderBy(keyId: string, secretHash: string): Promise<KeyHolder | null>;
  /** Nothing happens where it has ended already. */
  end(token: string): Promise<void>;
}

const KIND = 'session';
const TOKEN_BYTES = 32;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** As records of the system's tenant, because a session is looked up before it is known whose it is. */
export function sessionStore(records: RecordStore, holderBy: Sessions['holderBy']): Sessions {
  const keyOf = (token: string) => ({ tenant: SYSTEM_TENANT, kind: KIND, id: hashOfToken(token) });
  return {
    create: async (contentFor, expiresAt) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const [answer] = await records.put([{ ...keyOf(token), value: contentFor(token), expected: 0, expiresAt }]);
      if (answer!.status === 'conflict')
        throw new WaybillError('conflict', 'The session could not be stored. Repeat the call.');
      return { token };
    },
    find: async (token) => {
      if (!FORM.test(token)) return null;
      const [record] = await records.get([keyOf(token)]);
      return record?.value ?? null;
    },
    holderBy,
    end: async (token) => {
      if (FORM.test(token)) await records.remove(keyOf(token));
    },
  };
}

/** A plain hash will do: nobody guesses 256 random bits. */
const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');
