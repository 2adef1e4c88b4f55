import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

const ID_LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const ID_LENGTH = 12;
const SECRET_BYTES = 32;
const KEY_ID = /^[a-z2-9]{12}$/;
const FORM = /^wb_([a-z2-9]{12})_([A-Za-z0-9_-]{43})$/;

/** Other text is the id of no key: it need not be looked up, and no message may quote it, since it may be a secret. */
export const isKeyId = (text: unknown): text is string => typeof text === 'string' && KEY_ID.test(text);

/** What a key is called. It may be shown and logged: it stands in front of the secret, and is no part of it. */
export const newKeyId = (): string =>
  Array.from({ length: ID_LENGTH }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');

/** The text that a caller shows: `wb_`, the id of the key, and 256 random bits. */
export const newSecret = (id: string): string => `wb_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;

/** The id of the key that a text claims to be the secret of; undefined where it cannot be one. */
export const keyIdIn = (secret: string): string | undefined => FORM.exec(secret)?.[1];

/** What is stored of a secret. A plain hash will do: nobody guesses 256 random bits. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** In constant time. */
export const isSameHash = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
