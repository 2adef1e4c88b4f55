import { closest } from './closest.ts';
import { invalidField } from './errors.ts';
import { checkIdPrefix } from './job/id-prefix.ts';
import { JOB_STATES } from './job/job.ts';
import type { JobFilter } from './store/query.ts';

const MAX_LIMIT = 1_000;
/** As over HTTP. */
const DEFAULT_LIMIT = 50;

interface Page {
  limit: number;
  cursor?: string;
}

/** Refuses an id that is no text, such as a whole job: a database would fail with an error of its own. */
export function checkId(id: unknown, field = 'id'): void {
  if (typeof id !== 'string') throw invalidField(field, `must be an id as text, not ${kindOf(id)}.`);
}

/** Which page is asked for. Every field of the query stays; an absent limit gets its default. */
export function pageOf<Query extends Partial<Page>>(query: Query, fallback = DEFAULT_LIMIT): Query & { limit: number } {
  const { limit = fallback, cursor } = query;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw invalidField('limit', `must be an integer from 1 to ${MAX_LIMIT}.`, { min: 1, max: MAX_LIMIT });
  if (cursor !== undefined && typeof cursor !== 'string')
    throw invalidField('cursor', `must be text that an earlier page has answered, not ${kindOf(cursor)}.`);
  return { ...query, limit };
}

const LISTS = ['queues', 'types'] as const;
const TEXTS = ['tenant', 'workflowId', 'errorType'] as const;
const MOMENTS = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'] as const;

/** A filter as the store may read it; the empty tenant where it names none. */
export function checkedFilter(given: Partial<JobFilter> = {}): JobFilter {
  const { idPrefix, states, dead } = given;
  if (states !== undefined) checkStates(states, JOB_STATES, 'filter.states');
  for (const name of LISTS) if (given[name] !== undefined) checkTexts(given[name], `filter.${name}`);
  for (const name of TEXTS)
    if (given[name] !== undefined && typeof given[name] !== 'string')
      throw invalidField(`filter.${name}`, `must be text, not ${kindOf(given[name])}.`);
  for (const name of MOMENTS)
    if (given[name] !== undefined && !Number.isFinite(given[name]))
      throw invalidField(`filter.${name}`, 'must be milliseconds since 1970.');
  if (dead !== undefined && typeof dead !== 'boolean') throw invalidField('filter.dead', 'must be true or false.');
  if (idPrefix !== undefined) checkIdPrefix(idPrefix, 'idPrefix');
  return { tenant: '', ...given };
}

export function checkStates(states: unknown, known: readonly string[], field: string): void {
  const wrong = checkTexts(states, field).find((state) => !known.includes(state));
  if (wrong === undefined) return;
  const meant = closest(wrong, known);
  const rule = meant === undefined ? `It takes ${known.join(', ')}.` : `Did you mean '${meant}'?`;
  throw invalidField(field, `has no state '${wrong.slice(0, 100)}'. ${rule}`, { allowed: known });
}

/** How many a call changes at most; a bound that is no number would never be reached. */
export function checkAtMost(atMost: number): number {
  if (atMost === Number.POSITIVE_INFINITY || (Number.isSafeInteger(atMost) && atMost >= 0)) return atMost;
  throw invalidField('atMost', 'must be an integer from 0 on.');
}

function checkTexts(list: unknown, field: string): readonly string[] {
  if (!Array.isArray(list)) throw invalidField(field, `must be a list, not ${kindOf(list)}.`);
  const wrong = list.findIndex((item) => typeof item !== 'string');
  if (wrong >= 0) throw invalidField(`${field}[${wrong}]`, `must be text, not ${kindOf(list[wrong])}.`);
  return list;
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;
