import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { msOf, statesFromRpc } from '@waybill/client/rpc';
import {
  checkIdPrefix,
  checkQueue,
  invalidField,
  isJobId,
  JOB_STATES,
  type JobFilter,
  type JobPage,
  type JobState,
  type Jobs,
} from '@waybill/core';
import type { ListJobsRequest } from '@waybill/protocol';
import { MAX_OFFSET, pageBehind } from '../../ojs/pagination.ts';

const DEFAULT_SIZE = 50;
const LARGEST_SIZE = 100;
/** Behind a page, so many jobs are counted to find the last page. */
const LOOK_AHEAD = 1_000;

export interface ListedPage extends JobPage {
  lastPage: number;
  isExact: boolean;
}

/** By cursor, or by number: then all pages before it are read, and the number of the last one is answered. */
export async function listJobs(jobs: Jobs, request: ListJobsRequest, overBytes?: number): Promise<ListedPage> {
  const filter = filterOf(request);
  const { page, pageSize, pageToken } = request;
  if (pageSize < 0 || pageSize > LARGEST_SIZE)
    throw invalidField('page_size', `must lie between 1 and ${LARGEST_SIZE}.`);
  const limit = pageSize || DEFAULT_SIZE;
  const apart = overBytes === undefined ? {} : { overBytes };
  const read = (asked: { limit: number; cursor?: string }) => jobs.list({ ...asked, ...apart, filter });
  if (page === 0) {
    const found = await read({ limit, ...(pageToken !== '' && { cursor: pageToken }) });
    return { ...found, lastPage: 0, isExact: false };
  }
  if (pageToken !== '') throw invalidField('page', `contradicts 'page_token': send one of them.`);
  const offset = (page - 1) * limit;
  if (page < 0 || offset > MAX_OFFSET)
    throw invalidField('page', `must begin within the first ${MAX_OFFSET} jobs; go further by page_token.`);
  const found = await pageBehind(read, { limit, offset });
  return { ...found, ...(await lastPage(read, found, { page, limit })) };
}

async function lastPage(
  read: (asked: { limit: number; cursor?: string }) => Promise<JobPage>,
  { cursor, items }: JobPage,
  { page, limit }: { page: number; limit: number },
): Promise<Pick<ListedPage, 'lastPage' | 'isExact'>> {
  if (cursor === undefined) {
    if (items.length > 0 || page === 1) return { lastPage: page, isExact: true };
    // Behind the end: how far the end is back was not counted.
    const { items: all, cursor: more } = await read({ limit: LOOK_AHEAD });
    return { lastPage: Math.max(1, Math.ceil(all.length / limit)), isExact: more === undefined };
  }
  const ahead = await read({ limit: LOOK_AHEAD, cursor });
  return { lastPage: page + Math.ceil(ahead.items.length / limit), isExact: ahead.cursor === undefined };
}

function filterOf(request: ListJobsRequest): Partial<JobFilter> {
  const { idPrefix, deadLetter: dead, workflowId, errorType } = request;
  if (workflowId !== '' && !isJobId(workflowId)) throw invalidField('workflow_id', 'must be a UUIDv7 in lower case.');
  const states = statesOf(request);
  const queues = oneOrMany(request.queue, request.queues, 'queue').map((name) => checkQueue(name, 'queue'));
  const types = oneOrMany(request.type, request.types, 'type');
  const moments = { createdAfter: request.createdAfter, createdBefore: request.createdBefore };
  const ends = { finishedAfter: request.finishedAfter, finishedBefore: request.finishedBefore };
  return {
    ...(states && { states }),
    ...(queues.length > 0 && { queues }),
    ...(types.length > 0 && { types }),
    ...(idPrefix !== '' && { idPrefix: checkIdPrefix(idPrefix, 'id_prefix') }),
    ...(dead !== undefined && { dead }),
    ...(workflowId !== '' && { workflowId }),
    ...(errorType !== '' && { errorType }),
    ...momentsOf({ ...moments, ...ends }),
  };
}

function momentsOf(sent: Record<string, Timestamp | undefined>): Partial<JobFilter> {
  const given = Object.entries(sent).filter(([, moment]) => moment !== undefined);
  return Object.fromEntries(given.map(([name, moment]) => [name, msOf(moment!, name)]));
}

function statesOf({ state, exactStates }: ListJobsRequest): JobState[] | undefined {
  const states = statesFromRpc(state, 'state');
  if (exactStates.length === 0) return states;
  if (states) throw invalidField('exact_states', `contradicts 'state': send one of them.`);
  return exactStates.map((name) => {
    const known = JOB_STATES.find((exact) => exact === name);
    if (known === undefined) throw invalidField('exact_states', `must be among ${JOB_STATES.join(', ')}.`);
    return known;
  });
}

function oneOrMany(one: string, many: readonly string[], field: string): readonly string[] {
  if (one === '') return many;
  if (many.length > 0) throw invalidField(`${field}s`, `contradicts '${field}': send one of them.`);
  return [one];
}
