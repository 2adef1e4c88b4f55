import { isIdPrefix, isJobId, type Page, type Question, type Waybill, WaybillError } from '@waybill/core';
import { misuse } from './command.ts';
import { shortIds } from './short-ids.ts';
import { oneLine } from './text-width.ts';

/** Shorter ones name too many jobs to be meant. */
const SHORTEST = 4;
/** Named where a prefix could mean several. */
const MOST_NAMED = 5;
/** Characters of a question that are shown where its id is asked for. */
const MOST_TEXT = 40;

type List<Item> = (query: { idPrefix: string; limit: number; cursor?: string }) => Promise<Page<Item>>;

export const wholeId = ({ jobs }: Waybill, text: string): Promise<string> =>
  whole('jobs', text, ({ idPrefix, ...page }) => jobs.list({ filter: { idPrefix }, overBytes: 0, ...page }));

export const wholeWorkflowId = ({ workflows }: Waybill, text: string): Promise<string> =>
  whole('workflows', text, (query) => workflows.list(query));

const QUESTION_ID = /^[0-9a-f-]{36}\.[0-9a-f]{12}$/;
const QUESTION_PREFIX = /^[0-9a-f-]{1,36}(\.[0-9a-f]{0,12})?$/;

const QUESTION_IDS = {
  isWhole: (id: string) => QUESTION_ID.test(id),
  isBegin: (id: string) => QUESTION_PREFIX.test(id),
};

/** Where several questions have an id that begins so and one of them is open, that one is meant. */
export const wholeQuestionId = async ({ questions }: Waybill, text: string): Promise<string> => {
  const prefix = readPrefix(text, QUESTION_IDS);
  if (prefix === undefined) return text;
  const open = await beginningWith((query) => questions.list({ ...query, status: 'open' }), prefix);
  const found = open.length === 1 ? open : await beginningWith((query) => questions.list(query), prefix);
  return onlyOne('questions', text, found, namedQuestions);
};

/** A job's questions differ only behind its id, so the begin that tells them apart is shown with what they ask. */
function namedQuestions(found: readonly Question[]): string[] {
  const ids = found.map(({ id }) => id);
  const shown = shortIds(ids, { width: 0 });
  return found.map(({ id, status, text }) => `${shown(id)} (${status}: ${oneLine(text).slice(0, MOST_TEXT)})`);
}

const JOB_IDS = { isWhole: isJobId, isBegin: isIdPrefix };

/** A whole id, or the one id that begins so. */
async function whole(what: string, text: string, list: List<{ id: string }>): Promise<string> {
  const prefix = readPrefix(text, JOB_IDS);
  if (prefix === undefined) return text;
  return onlyOne(what, text, await beginningWith(list, prefix), (found) => found.map(({ id }) => id));
}

/** Nothing where the text is a whole id. What is no part of an id stays as it is too, and is not found. */
function readPrefix(text: string, { isWhole, isBegin }: typeof QUESTION_IDS): string | undefined {
  const prefix = text.toLowerCase();
  if (isWhole(prefix) || !isBegin(prefix)) return undefined;
  if (prefix.length < SHORTEST) throw misuse(`'${text}' is too short for an id: give at least ${SHORTEST} characters.`);
  return prefix;
}

function onlyOne<Item extends { id: string }>(
  what: string,
  text: string,
  found: readonly Item[],
  named: (found: readonly Item[]) => string[],
): string {
  if (found[0] === undefined) throw new WaybillError('not_found', `No ${what} have an id that begins with '${text}'.`);
  if (found.length === 1) return found[0].id;
  const more = found.length > MOST_NAMED ? ', and more' : '';
  throw new WaybillError('invalid_request', `Several ${what} have an id that begins with '${text}'.`, {
    hint: `Give more of it: ${named(found).slice(0, MOST_NAMED).join(', ')}${more}.`,
  });
}

export const wholeIds = (waybill: Waybill, texts: readonly string[]): Promise<string[]> =>
  Promise.all(texts.map((text) => wholeId(waybill, text)));

/** One more than are named, so that it shows whether there are more. Pages may be empty and go on all the same. */
async function beginningWith<Item>(list: List<Item>, idPrefix: string): Promise<Item[]> {
  const found: Item[] = [];
  let page: Pick<Page<unknown>, 'cursor'> = {};
  do {
    const limit = MOST_NAMED + 1 - found.length;
    const { cursor } = page;
    const next = await list({ idPrefix, limit, ...(cursor !== undefined && { cursor }) });
    found.push(...next.items);
    page = next;
  } while (page.cursor !== undefined && found.length <= MOST_NAMED);
  return found;
}
