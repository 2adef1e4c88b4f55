import type { RemoteWebhooks } from '@waybill/client/http';
import { WaybillError } from '@waybill/core';
import { misuse } from './command.ts';

/** Ids that the server makes begin so; the others are chosen by who creates the webhook. */
const MADE = 'wh_';
/** Shorter ones name too many webhooks to be meant. */
const SHORTEST = 4;
const MOST_NAMED = 5;

/** A whole id, or the one id that begins so, with its `wh_` or without. */
export async function wholeWebhookId(webhooks: Pick<RemoteWebhooks, 'list'>, text: string): Promise<string> {
  const ids = await idsOf(webhooks);
  if (ids.includes(text)) return text;
  if (text.replace(MADE, '').length < SHORTEST)
    throw misuse(`'${text}' is too short for an id: give at least ${SHORTEST} characters.`);
  const found = ids.filter((id) => id.startsWith(text) || id.startsWith(MADE + text));
  if (found.length === 1) return found[0]!;
  if (found.length === 0)
    throw new WaybillError('not_found', `There is no webhook '${text}'.`, {
      hint: '`waybill webhooks list` shows those of a tenant; --tenant NAME names another one.',
    });
  const named = found.slice(0, MOST_NAMED).join(', ');
  throw new WaybillError('invalid_request', `Several webhooks have an id that begins with '${text}'.`, {
    hint: `Give more of it: ${named}${found.length > MOST_NAMED ? ', and more' : ''}.`,
  });
}

async function idsOf(webhooks: Pick<RemoteWebhooks, 'list'>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await webhooks.list(cursor === undefined ? {} : { cursor });
    ids.push(...page.webhooks.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}
