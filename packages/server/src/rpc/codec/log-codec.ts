import { create } from '@bufbuild/protobuf';
import { eventToWire } from '@waybill/client';
import { timeOf } from '@waybill/client/rpc';
import {
  checkQueue,
  EVENT_TYPES,
  type EventFilter,
  type EventType,
  invalidField,
  type LoggedEvent,
} from '@waybill/core';
import { type LogEvent, LogEventSchema, type LogFilter } from '@waybill/protocol';
import { RECORD_EVENT_TYPES } from '../../records/kinds.ts';
import { jobIdOf } from './fields.ts';

/** Of the engine, and of the kinds of records that have routes here. */
const TYPES: ReadonlySet<string> = new Set([...EVENT_TYPES, ...RECORD_EVENT_TYPES]);
const MOST_NAMES = 100;

export function logEventToRpc(event: LoggedEvent): LogEvent {
  const { id, type, source, subject, data, cursor } = eventToWire(event);
  return create(LogEventSchema, {
    ...{ id, type, source, subject, data, cursor, tenant: event.tenant },
    time: timeOf(event.at),
  });
}

export function logFilterOf(filter: LogFilter | undefined): Partial<EventFilter> {
  if (!filter) return {};
  const { types, queues, jobIds, tenant } = filter;
  for (const [field, names] of Object.entries({ types, queues, job_ids: jobIds }))
    if (names.length > MOST_NAMES) throw invalidField(`filter.${field}`, `must have at most ${MOST_NAMES} names.`);
  return {
    ...(types.length > 0 && { types: types.map(typeOf) }),
    ...(queues.length > 0 && { queues: queues.map((queue) => checkQueue(queue, 'filter.queues')) }),
    ...(jobIds.length > 0 && { jobIds: jobIds.map((id) => jobIdOf(id, 'filter.job_ids')) }),
    ...(tenant !== undefined && { tenant }),
  };
}

function typeOf(name: string): EventType {
  if (TYPES.has(name)) return name as EventType;
  throw invalidField('filter.types', `has '${name.slice(0, 100)}', which is no type of event.`, {
    allowed: [...TYPES],
  });
}
