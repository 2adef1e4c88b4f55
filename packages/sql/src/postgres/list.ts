import {
  idRange,
  isFinished,
  JOB_STATES,
  type JobFilter,
  type JobPage,
  type JobQuery,
  type JobState,
  readPage,
} from '@waybill/core';
import { readCursor, writeCursor } from '../cursor.ts';
import { textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { COLUMNS, fromRow, isId, type Row, searchable, stateCode } from './rows.ts';

/** A search that finds little may have to look at every job. It is cut off before it keeps the server from its work. */
const BUDGET_MS = 5_000;

export async function list({ link }: Base, { filter, limit, cursor }: JobQuery): Promise<JobPage> {
  const values = new Values();
  const before = cursor === undefined ? null : readCursor(cursor);
  const behind = before === null ? [] : [`id < ${values.add(isId(before) ? before : LAST_ID)}::uuid`];
  const most = values.add(limit + 1);
  const parts = sourcesOf(filter).map((source) => {
    const where = [...source.where, ...conditions(filter, values), ...behind].join(' and ');
    return `(select ${COLUMNS} from {schema}.${source.view} where ${where} order by id desc limit ${most})`;
  });
  if (parts.length === 0) return { items: [] };
  const text = `select * from (${parts.join(' union all ')}) j order by id desc limit ${most}`;
  const rows = await link.search<Row>(link.sql(text), values.all, BUDGET_MS);
  const page = readPage(rows.slice(0, limit), fromRow, ([, id]) => id);
  return rows.length > limit ? { ...page, cursor: writeCursor(rows[limit - 1]![1]) } : page;
}

export async function count({ link }: Base, filter: JobFilter, { atMost }: { atMost: number }): Promise<number> {
  const values = new Values();
  const most = values.add(atMost);
  const parts = sourcesOf(filter).map((source) => {
    const where = [...source.where, ...conditions(filter, values)].join(' and ');
    return `(select 1 from {schema}.${source.view} where ${where} limit ${most})`;
  });
  if (parts.length === 0) return 0;
  const text = `select count(*) from (select 1 from (${parts.join(' union all ')}) j limit ${most}) k`;
  const [row] = await link.search<[number]>(link.sql(text), values.all, BUDGET_MS);
  return row![0];
}

/** Where a cursor that is no id stands: behind everything. */
const LAST_ID = '00000000-0000-0000-0000-000000000000';

/** The parameters of a statement that is put together. */
class Values {
  readonly all: (string | number | boolean | null)[] = [];

  add(value: string | number | boolean | null): string {
    this.all.push(value);
    return `$${this.all.length}`;
  }
}

interface Source {
  view: 'live_jobs' | 'bundled_jobs' | 'ended_jobs';
  where: string[];
}

/**
 * Where rows of the asked-for states are. One by one and as literals, so that the planner sees which partial index holds
 * them; a finished node that still has dependents to look at lives.
 */
function sourcesOf({ states, dead }: JobFilter): Source[] {
  if (dead === true)
    return [
      { view: 'ended_jobs', where: ['dead', 'state = 8'] },
      { view: 'live_jobs', where: ['dead'] },
    ];
  if (!states)
    return [
      { view: 'live_jobs', where: [] },
      { view: 'bundled_jobs', where: [] },
      { view: 'ended_jobs', where: [] },
    ];
  return JOB_STATES.filter((state) => states.includes(state)).flatMap(sourcesOfState);
}

function sourcesOfState(state: JobState): Source[] {
  const isState = `state = ${stateCode(state)}`;
  const isDue = state === 'scheduled' || state === 'retryable' || state === 'active';
  const living: Source = { view: 'live_jobs', where: isDue ? [isState, 'next_at is not null'] : [isState] };
  if (state === 'active') return [living, { view: 'bundled_jobs', where: [] }];
  return isFinished(state) ? [living, { view: 'ended_jobs', where: [isState] }] : [living];
}

function conditions(filter: JobFilter, values: Values): string[] {
  const found = [`tenant = ${values.add(filter.tenant)}`];
  const add = <T>(value: T | undefined, condition: (value: T) => string) => {
    if (value !== undefined) found.push(condition(value));
  };
  const anyOf = (list: readonly string[]) => `any (${values.add(textArray(list) ?? '{}')}::text[])`;
  // The states of `dead` are not said by the source.
  if (filter.dead === true && filter.states) {
    found.push(`state in (${[0, ...filter.states.map(stateCode)].join(', ')})`);
  }
  if (filter.dead === false) found.push('not dead');
  add(filter.idPrefix, (prefix) => {
    const { first, last } = idRange(prefix);
    return `id between ${values.add(first)}::uuid and ${values.add(last)}::uuid`;
  });
  add(filter.queues, (queues) => `queue = ${anyOf(queues)}`);
  add(filter.types, (types) => `type = ${anyOf(types)}`);
  add(filter.workflowId, (id) => `workflow_id = ${values.add(id)}`);
  add(filter.errorType, (type) => {
    const cell = values.add(searchable(type));
    return `(error_type = ${cell} or error_code = ${cell})`;
  });
  add(filter.createdAfter, (time) => `created_at > ${values.add(time)}`);
  add(filter.createdBefore, (time) => `created_at < ${values.add(time)}`);
  add(filter.finishedAfter, (time) => `finished_at > ${values.add(time)}`);
  add(filter.finishedBefore, (time) => `finished_at < ${values.add(time)}`);
  return found;
}
