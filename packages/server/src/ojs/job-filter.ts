import {
  checkIdPrefix,
  checkQueue,
  type Fields,
  invalidField,
  isJobId,
  JOB_STATES,
  type JobFilter,
} from '@waybill/core';
import { readMoment } from '../http/moment.ts';
import { listIn, type Query } from '../http/query.ts';

/** What narrows jobs wherever they are listed, in an address or in a body. Lists are separated by commas. */
export const FILTERS = ['queue', 'type', 'error_type', 'workflow_id', 'created_after', 'created_before'] as const;
/** Only where jobs of every state are listed. */
export const STATE_FILTERS = ['id_prefix', 'state', 'dead_letter', 'finished_after', 'finished_before'] as const;
/** The specification's words for when a job was given up. */
export const DEAD_FILTERS = ['since', 'until'] as const;

const ALL = [...FILTERS, ...STATE_FILTERS, ...DEAD_FILTERS] as const;

export type SentFilter = { [name in (typeof ALL)[number]]?: string | undefined };

/** A parameter that is repeated counts as one list. */
export function filterInQuery(query: Query, names: readonly (typeof ALL)[number][]): SentFilter {
  return Object.fromEntries(names.map((name) => [name, query.joined(name)]));
}

export function filterInBody(filter: Fields, names: readonly (typeof ALL)[number][]): SentFilter {
  const unknown = Object.keys(filter.rest(new Set(names)) ?? {})[0];
  if (unknown !== undefined) {
    throw invalidField(filter.name(unknown.slice(0, 100)), 'is not a filter.', { allowed: names });
  }
  // Elsewhere null means absent. Here a variable that was not set would mean every job.
  const unset = names.find((name) => filter.isNull(name));
  if (unset !== undefined)
    throw invalidField(filter.name(unset), 'must not be null: leave it out, or name what is meant.');
  const max = Number.POSITIVE_INFINITY;
  return Object.fromEntries(
    names.map((name) => [name, filter.has(name) ? filter.requiredString(name, { max }) : undefined]),
  );
}

export function jobFilter(sent: SentFilter): Partial<JobFilter> {
  const { queue, type, state, workflow_id: workflowId, error_type: errorType } = sent;
  if (workflowId !== undefined && !isJobId(workflowId))
    throw invalidField('workflow_id', 'must be a UUIDv7 in lower case.');
  if (errorType === '') throw invalidField('error_type', 'must not be empty.');
  const filter: Partial<JobFilter> = {
    ...(sent.id_prefix !== undefined && { idPrefix: checkIdPrefix(sent.id_prefix, 'id_prefix') }),
    ...(state !== undefined && { states: listIn('state', state, JOB_STATES) }),
    ...(queue !== undefined && { queues: listIn('queue', queue).map((name) => checkQueue(name, 'queue')) }),
    ...(type !== undefined && { types: listIn('type', type) }),
    ...(errorType !== undefined && { errorType }),
    ...(workflowId !== undefined && { workflowId }),
    ...(sent.dead_letter !== undefined && { dead: flag('dead_letter', sent.dead_letter) }),
  };
  const finishedFrom = sent.since === undefined ? 'finished_after' : 'since';
  const finishedTo = sent.until === undefined ? 'finished_before' : 'until';
  const moments = {
    createdAfter: readMoment('created_after', sent.created_after),
    createdBefore: readMoment('created_before', sent.created_before),
    finishedAfter: readMoment(finishedFrom, sent[finishedFrom]),
    finishedBefore: readMoment(finishedTo, sent[finishedTo]),
  };
  for (const [name, moment] of Object.entries(moments))
    if (moment !== undefined) Object.assign(filter, { [name]: moment });
  return filter;
}

function flag(name: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw invalidField(name, 'must be true or false.');
  return text === 'true';
}
