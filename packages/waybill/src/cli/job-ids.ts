import { isIdPrefix, isJobId, type Jobs, type Page, type Waybill, WaybillError } from '@waybill/core';
import { misuse } from './command.ts';

/** Shorter ones name too many jobs to be meant. */
const SHORTEST = 4;
/** Named where a prefix could mean several. */
const MOST_NAMED = 5;

/** A whole id, or the one id that begins so. What is no part of an id stays as it is, and is not found. */
export async function wholeId({ jobs }: Waybill, text: string): Promise<string> {
  const prefix = text.toLowerCase();
  if (isJobId(prefix) || !isIdPrefix(prefix)) return text;
  if (prefix.length < SHORTEST) throw misuse(`'${text}' is too short for an id: give at least ${SHORTEST} characters.`);
  const found = await idsWith(jobs, prefix);
  if (found.length > 1) throw ambiguous(text, found);
  return found[0] ?? text;
}

export const wholeIds = (waybill: Waybill, texts: readonly string[]): Promise<string[]> =>
  Promise.all(texts.map((text) => wholeId(waybill, text)));

/** One more than are named, so that it shows whether there are more. Pages may be empty and go on all the same. */
async function idsWith(jobs: Jobs, idPrefix: string): Promise<string[]> {
  const ids: string[] = [];
  let page: Pick<Page<unknown>, 'cursor'> = {};
  do {
    const limit = MOST_NAMED + 1 - ids.length;
    const { cursor } = page;
    const next = await jobs.list({
      filter: { idPrefix },
      limit,
      overBytes: 0,
      ...(cursor !== undefined && { cursor }),
    });
    ids.push(...next.items.map(({ id }) => id));
    page = next;
  } while (page.cursor !== undefined && ids.length <= MOST_NAMED);
  return ids;
}

function ambiguous(text: string, ids: readonly string[]): WaybillError {
  const named = ids.slice(0, MOST_NAMED).join(', ');
  const more = ids.length > MOST_NAMED ? ', and more' : '';
  return new WaybillError('invalid_request', `Several jobs have an id that begins with '${text}'.`, {
    hint: `Give more of it: ${named}${more}.`,
  });
}
