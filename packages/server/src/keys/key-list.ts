import {
  checkJson,
  checkKeyRequest,
  checkPrintable,
  Fields,
  hashOfSecret,
  invalidField,
  isObject,
  isSameHash,
  type KeyHolder,
  WaybillError,
} from '@waybill/core';
import type { WhyRefused } from '../auth/why-refused.ts';
import { KEY_FIELDS, readKeyRequest } from './key-request.ts';

/** A key as a list has it. */
export interface GivenKey {
  hash: string;
  holder: KeyHolder;
  /** Whether the list has the secret itself. */
  isPlain: boolean;
}

export const MOST_BYTES = 1024 * 1024;
/** Each of them is compared with what a caller shows. */
const MOST_KEYS = 1_000;
/** Shorter ones could be guessed: of these secrets, a plain hash is all that stands in the list. */
const SECRET = /^[\x21-\x7e]{24,1024}$/;
const SHA_256 = /^[0-9a-f]{64}$/i;
const FIELDS = ['id', 'sha256', 'secret', ...KEY_FIELDS];

/**
 * Reads a JSON list of keys. `where` stands for the list in messages, which name the entry and the field, and never a
 * value: a secret may stand in any place by mistake.
 */
export function readKeyList(text: string, where: string): GivenKey[] {
  const list = parse(text, where);
  if (!Array.isArray(list)) throw refused(`${where} must hold a JSON list of keys.`);
  if (list.length > MOST_KEYS) throw refused(`${where} must hold at most ${MOST_KEYS} keys, not ${list.length}.`);
  const keys = list.map((entry, index) => readEntry(entry, index, where));
  const twice = (of: (key: GivenKey) => string): number =>
    keys.findIndex((key, index) => keys.findIndex((other) => of(other) === of(key)) < index);
  const [sameId, sameSecret] = [twice(({ holder }) => holder.principal.id), twice(({ hash }) => hash)];
  if (sameId >= 0)
    throw refused(`Entry ${sameId + 1} of ${where} has the id of an entry before it. Give each an 'id' of its own.`);
  if (sameSecret >= 0) throw refused(`Entry ${sameSecret + 1} of ${where} has the secret of an entry before it.`);
  return keys;
}

/** Every key is compared in constant time, whether one was found already or not. */
export function holderAmong(keys: readonly GivenKey[], secret: string, now: number): KeyHolder | null {
  const found = listed(keys, secret);
  return found === null || (found.expiresAt !== null && found.expiresAt <= now) ? null : found;
}

/** Why a secret that shows no holder is none; undefined: the list does not have it. */
export function whyNotAmong(keys: readonly GivenKey[], secret: string): WhyRefused | undefined {
  const found = listed(keys, secret);
  return found ? { reason: 'key_expired', key: found.principal.id } : undefined;
}

function listed(keys: readonly GivenKey[], secret: string): KeyHolder | null {
  const hash = hashOfSecret(secret);
  let found: KeyHolder | null = null;
  for (const key of keys) if (isSameHash(key.hash, hash)) found = key.holder;
  return found;
}

function readEntry(entry: unknown, index: number, where: string): GivenKey {
  const name = isObject(entry) && typeof entry['name'] === 'string' ? ` ('${entry['name'].slice(0, 100)}')` : '';
  try {
    return keyOf(new Fields(entry, isObject(entry) ? '' : 'entry'));
  } catch (error) {
    const { code, message, details } = WaybillError.from(error);
    const field = details?.['field'];
    const facts = { details: { entry: index, ...(field !== undefined && { field }) } };
    throw new WaybillError(code, `Entry ${index + 1}${name} of ${where}: ${message}`, facts);
  }
}

function keyOf(entry: Fields): GivenKey {
  entry.refuseUnknown(FIELDS);
  const { requestsPerMinute, expiresAt = null, ...request } = readKeyRequest(entry);
  const tenant = entry.string('tenant', { max: 128 }) ?? '';
  // A key that has expired stays in the list: a server must be able to start with it.
  checkKeyRequest(request, tenant, Number.NEGATIVE_INFINITY);
  const { name, scopes, queues, types } = request;
  const id = entry.string('id', { max: 128 }) ?? name;
  checkPrintable('id', id);
  const principal = { id, tenant, scopes, ...(queues && { queues }), ...(types && { types }) };
  return {
    hash: hashIn(entry),
    holder: { principal, name, expiresAt, ...(requestsPerMinute !== undefined && { requestsPerMinute }) },
    isPlain: entry.has('secret'),
  };
}

function hashIn(entry: Fields): string {
  const [sha256, secret] = [entry.string('sha256'), entry.string('secret', { max: 1024 })];
  if ((sha256 === undefined) === (secret === undefined))
    throw invalidField('sha256', "is required, or 'secret' instead of it: one of them.");
  if (sha256 !== undefined && !SHA_256.test(sha256))
    throw invalidField('sha256', 'must be the SHA-256 of the secret in 64 hexadecimal digits.');
  if (secret !== undefined && !SECRET.test(secret))
    throw invalidField('secret', 'must have 24 to 1024 printable ASCII characters, and no space.');
  return sha256?.toLowerCase() ?? hashOfSecret(secret!);
}

/** The parser's own message quotes the text. */
function parse(text: string, where: string): unknown {
  if (text.length > MOST_BYTES) throw refused(`${where} must have at most ${MOST_BYTES} bytes.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    throw refused(
      `${where} must hold a JSON list of keys, and is no JSON${place === undefined ? '' : ` at ${place}`}.`,
    );
  }
  checkJson(json);
  return json;
}

const refused = (message: string): WaybillError =>
  new WaybillError('invalid_request', message, {
    hint: '`waybill keys create NAME --scopes .. --print-entry` prints an entry.',
  });
