import { isIdPrefix, isJobId, type Page, type Waybill, WaybillError } from '@waybill/core';
import { misuse } from './command.ts';

/** Shorter ones name too many jobs to be meant. */
const SHORTEST = 4;
/** Named where a prefix could mean several. */
const MOST_NAMED = 5;

/** The ids that begin so, newest first. */
type ListIds = (query: { idPrefix: string; limit: number; cursor?: string }) => Promise<Page<{ id: string }>>;

export const wholeId = ({ jobs }: Waybill, text: string): Promise<string> =>
  whole('jobs', text, ({ idPrefix, ...page }) => jobs.list({ filter: { idPrefix }, overBytes: 0, ...page }));

export const wholeWorkflowId = ({ workflows }: Waybill, text: string): Promise<string> =>
  whole('workflows', text, (query) => workflows.list(query));

const QUESTION_ID = /^[0-9a-f-]{36}\.[0-9a-f]{12}$/;
const QUESTION_PREFIX = /^[0-9a-f-]{1,36}(\.[0-9a-f]{0,12})?$/;

export const wholeQuestionId = ({ questions }: Waybill, text: string): Promise<string> =>
  whole('questions', text, (query) => questions.list(query), {
    isWhole: (id) => QUESTION_ID.test(id),
    isBegin: (id) => QUESTION_PREFIX.test(id),
  });

const JOB_IDS = { isWhole: isJobId, isBegin: isIdPrefix };

/** A whole id, or the one id that begins so. What is no part of an id stays as it is, and is not found. */
async function whole(what: string, text: string, list: ListIds, form = JOB_IDS): Promise<string> {
  const prefix = text.toLowerCase();
  if (form.isWhole(prefix) || !form.isBegin(prefix)) return text;
  if (prefix.length < SHORTEST) throw misuse(`'${text}' is too short for an id: give at least ${SHORTEST} characters.`);
  const found = await idsWith(list, prefix);
  if (found.length > 1) throw ambiguous(what, text, found);
  if (found[0] === undefined) throw new WaybillError('not_found', `No ${what} have an id that begins with '${text}'.`);
  return found[0];
}

export const wholeIds = (waybill: Waybill, texts: readonly string[]): Promise<string[]> =>
  Promise.all(texts.map((text) => wholeId(waybill, text)));

/** One more than are named, so that it shows whether there are more. Pages may be empty and go on all the same. */
async function idsWith(list: ListIds, idPrefix: string): Promise<string[]> {
  const ids: string[] = [];
  let page: Pick<Page<unknown>, 'cursor'> = {};
  do {
    const limit = MOST_NAMED + 1 - ids.length;
    const { cursor } = page;
    const next = await list({ idPrefix, limit, ...(cursor !== undefined && { cursor }) });
    ids.push(...next.items.map(({ id }) => id));
    page = next;
  } while (page.cursor !== undefined && ids.length <= MOST_NAMED);
  return ids;
}

function ambiguous(what: string, text: string, ids: readonly string[]): WaybillError {
  const named = ids.slice(0, MOST_NAMED).join(', ');
  const more = ids.length > MOST_NAMED ? ', and more' : '';
  return new WaybillError('invalid_request', `Several ${what} have an id that begins with '${text}'.`, {
    hint: `Give more of it: ${named}${more}.`,
  });
}
