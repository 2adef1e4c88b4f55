import { ALL_TENANTS, type Keys, keyIdIn, WaybillError } from '@waybill/core';
import { misuse } from './command.ts';
import type { Context } from './context.ts';
import { lookedAt } from './looked-at.ts';
import { refusalOf } from './report.ts';

/** Shorter ones name too many keys to be meant. */
const SHORTEST = 4;
const LIKE_AN_ID = /^(wb_)?[a-z2-9]{1,12}$/i;

/** For the commands about keys, which are about one tenant or about all. */
export const KEY_TENANT = {
  value: 'NAME',
  about: "tenant of the key; '*' is a key for all, whose holder names one in each call",
  default: 'WAYBILL_TENANT, the one without a name',
} as const;

export interface OpenKeys {
  keys: Keys;
  /** Goes with every call. */
  whose: { tenant?: string };
}

export async function openKeys(context: Context, { create = false } = {}): Promise<OpenKeys> {
  const { keys } = await context.connect({ create, mayMeanAll: true });
  if (keys === undefined) throw new WaybillError('unsupported', 'No keys are kept here.');
  return { keys, whose: context.isAllTenants ? { tenant: ALL_TENANTS } : {} };
}

/**
 * Changes the key that is meant. A secret names its key, whichever tenant that is of, so an operator who found one need not
 * know the tenant.
 */
export async function changeKey<T>(
  context: Context,
  text: string,
  change: (keys: Keys, id: string, whose: OpenKeys['whose']) => Promise<T>,
): Promise<T> {
  const opened = await openKeys(context);
  const id = await wholeKeyId(opened, text);
  const tries = keyIdIn(text) === undefined ? [opened.whose] : [opened.whose, { tenant: ALL_TENANTS }];
  let notFound: unknown;
  let isInNone = context.isAllTenants;
  for (const whose of tries) {
    try {
      return await change(opened.keys, id, whose);
    } catch (error) {
      const { code } = refusalOf(error);
      // A caller of one tenant may not look in the others.
      if (code === 'forbidden' && notFound !== undefined) break;
      if (code !== 'not_found') throw error;
      notFound ??= error;
      isInNone ||= whose.tenant === ALL_TENANTS;
    }
  }
  // What cannot name a key is told what an id looks like.
  if (keyIdIn(text) === undefined && !LIKE_AN_ID.test(text)) throw notFound;
  const hint = isInNone
    ? "No tenant has this key. `waybill keys list --tenant '*'` lists the keys of all tenants."
    : `Only keys of ${lookedAt(context)} were looked at. --tenant NAME names another tenant, --tenant '*' all of them.`;
  throw new WaybillError('not_found', refusalOf(notFound).message, { hint });
}

/**
 * The id of the key that is meant: by its id, the begin of it, or its secret. What cannot be an id is not found, and no
 * message quotes it.
 */
export async function wholeKeyId({ keys, whose }: OpenKeys, text: string): Promise<string> {
  const begin = keyIdIn(text) ?? text.replace(/^wb_/, '').toLowerCase();
  if (begin.length >= 12 || !/^[a-z2-9]+$/.test(begin)) return begin;
  if (begin.length < SHORTEST) throw misuse(`'${begin}' is too short for an id: give at least ${SHORTEST} characters.`);
  const found = (await keys.list(whose)).map(({ id }) => id).filter((id) => id.startsWith(begin));
  if (found.length <= 1) return found[0] ?? begin;
  throw new WaybillError('invalid_request', `Several keys have an id that begins with '${begin}'.`, {
    hint: `Give more of it: ${found.slice(0, 5).join(', ')}${found.length > 5 ? ', and more' : ''}.`,
  });
}
