import type { EventFilter, Events, EventType, JsonObject, LoggedEvent } from '@waybill/core';
import { type LogEvent, LogService, type LogServiceFollowResponse } from '@waybill/protocol';
import { eventFromWire } from '../event-wire.ts';
import { toRfc3339 } from '../time.ts';
import { resumed } from './resumed.ts';
import type { RpcCalls } from './rpc-calls.ts';
import { limitIn, namesIn } from './sent.ts';
import { msOf } from './values.ts';

const { read, end, follow } = LogService.method;
const MOST_READ = 1_000;

export function events(calls: RpcCalls): Events {
  return {
    read: async ({ after, filter, limit } = {}) => {
      const tenant = calls.tenantOf(filter);
      const input = { ...afterOf(after), filter: filterOf(filter), limit: limitIn(limit, MOST_READ) ?? 0 };
      const page = await calls.call(read, input, { tenant });
      const { cursor, atEnd, missed } = page;
      return { events: page.events.map(eventFromRpc), cursor, atEnd, missed };
    },
    end: async () => (await calls.call(end, {}, { tenant: calls.tenantOf(undefined) })).cursor,
    follow: (query) => followed(calls, query),
  };
}

/** One connection after the other, each beginning right behind the last event that was handed on. */
async function* followed(calls: RpcCalls, query: Parameters<Events['follow']>[0]): AsyncGenerator<LoggedEvent> {
  const tenant = calls.tenantOf(query.filter);
  const filter = filterOf(query.filter);
  const { signal } = query;
  let { after } = query;
  const open = async function* (away: AbortSignal, onOpen: () => void) {
    // A stream without events sends nothing at all, not even headers: a call before it tells whether a server is there.
    await calls.call(end, {}, { tenant, repeatable: false, signal: away });
    onOpen();
    yield* calls.stream(follow, { ...afterOf(after), filter }, { tenant, signal: away, isPrompt: false });
  };
  for await (const { item } of resumed<LogServiceFollowResponse>(calls, { signal, open, endsByItself: false })) {
    switch (item.case) {
      case 'event':
        after = item.value.cursor;
        yield eventFromRpc(item.value);
        break;
      case 'place':
        after = item.value.cursor;
        query.onPlace?.(after);
        break;
      case 'missed':
        query.onMissed?.();
        break;
    }
  }
}

export function eventFromRpc({ id, type, source, time, subject, data = {}, cursor, tenant }: LogEvent): LoggedEvent {
  const moment = toRfc3339(time ? msOf(time, 'time') : 0);
  const event = { id, type: type as EventType, source, subject, cursor, data: data as JsonObject };
  return eventFromWire({ specversion: '1.0', ...event, time: moment, timestamp: moment }, tenant);
}

const filterOf = ({ types, queues, jobIds }: Partial<EventFilter> = {}) => ({
  ...{ types: namesIn(types, 'types'), queues: namesIn(queues, 'queues'), jobIds: namesIn(jobIds, 'jobIds') },
});

const afterOf = (after: string | undefined) => (after === undefined ? {} : { after });
