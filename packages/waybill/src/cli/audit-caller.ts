import { type AuditQuery, type Keys, keyIdIn, readAudit, type Waybill, WaybillError } from '@waybill/core';
import type { Context } from './context.ts';
import { lookedAt } from './looked-at.ts';
import { refusalOf } from './report.ts';

const PAGE = 1_000;
/** Shorter ones begin too many ids to be meant. */
const SHORTEST = 4;

/** The names of each caller, by its id. A key may have had another name before. */
type Callers = Map<string, Set<string>>;

/**
 * The id of the caller that is meant: by its id, its name, the first characters of the id, or the secret of its key. Callers
 * are those of the keys, and those that have an entry, because tokens of an issuer are no keys.
 */
export async function auditCaller(
  { keys, events }: Waybill,
  text: string,
  whose: Pick<AuditQuery, 'tenant'>,
  context: Context,
): Promise<string> {
  const id = keyIdIn(text) ?? text;
  const callers: Callers = new Map();
  for (const key of await keysOf(keys, whose)) add(callers, key.id, key.name);
  if (callers.has(id)) return id;
  for (let after: string | undefined, atEnd = false; !atEnd; ) {
    const page = await readAudit(events, whose, { after, limit: PAGE });
    for (const { subject, data } of page.events) add(callers, subject ?? '', data['name']);
    ({ cursor: after, atEnd } = page);
  }
  if (callers.has(id)) return id;
  const named = [...callers].filter(([, names]) => names.has(text)).map(([one]) => one);
  const begin = text.replace(/^wb_/, '');
  const begun = begin.length < SHORTEST ? [] : [...callers.keys()].filter((one) => one.startsWith(begin));
  const found = named.length > 0 ? named : begun;
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw new WaybillError('invalid_request', `Several callers are named '${text}', or have an id that begins so.`, {
      hint: `Give the id: ${found.slice(0, 5).join(', ')}${found.length > 5 ? ', and more' : ''}.`,
    });
  throw new WaybillError('not_found', `There is no caller '${id}' in ${lookedAt(context)}.`, {
    hint: '`waybill keys list` lists the keys. Another tenant is named with --tenant NAME.',
  });
}

/** A server that keeps no keys, or shows none to this caller, still has the entries. */
async function keysOf(keys: Keys | undefined, whose: { tenant?: string }) {
  try {
    return (await keys?.list(whose)) ?? [];
  } catch (error) {
    if (['unsupported', 'forbidden'].includes(refusalOf(error).code)) return [];
    throw error;
  }
}

function add(callers: Callers, id: string, name: unknown): void {
  const names = callers.get(id) ?? new Set();
  if (typeof name === 'string') names.add(name);
  callers.set(id, names);
}
