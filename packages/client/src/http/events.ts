import type { EventFilter, Events, LoggedEvent } from '@waybill/core';
import { eventFromWire, type WireEvent } from '../event-wire.ts';
import type { QueryValues } from './address.ts';
import type { Calls } from './calls.ts';
import { followStream } from './event-stream.ts';

const EVENTS = '/ojs/v1/events';

interface WireEventPage {
  events: WireEvent[];
  cursor: string;
  has_more: boolean;
  missed?: boolean;
}

export function events(calls: Calls): Events {
  const page = (query: QueryValues, tenant: string) => calls.call<WireEventPage>('GET', EVENTS, { tenant, query });
  return {
    read: async ({ after, filter, limit } = {}) => {
      const tenant = calls.tenantOf(filter);
      const read = await page({ ...filterOf(filter), after, limit }, tenant);
      const { cursor, has_more, missed = false } = read;
      return {
        events: read.events.map((wire) => eventFromWire(wire, calls.whose(tenant))),
        cursor,
        atEnd: !has_more,
        missed,
      };
    },
    end: async () => (await page({ from: 'now', limit: 1 }, calls.tenantOf(undefined))).cursor,
    follow: (query) => follow(calls, query),
  };
}

const filterOf = (filter: Partial<EventFilter> = {}): QueryValues => ({
  ...{ types: filter.types, queues: filter.queues, job_id: filter.jobIds },
});

async function* follow(calls: Calls, query: Parameters<Events['follow']>[0]): AsyncGenerator<LoggedEvent> {
  const tenant = calls.tenantOf(query.filter);
  const { after, signal } = query;
  const stream = { path: EVENTS, tenant, query: filterOf(query.filter), first: { after }, signal };
  for await (const { id, event, data } of followStream(calls, stream)) {
    if (data === undefined || event === 'place') {
      if (id !== undefined) query.onPlace?.(id);
    } else if (event === 'missed') query.onMissed?.();
    else yield eventFromWire(JSON.parse(data), calls.whose(tenant));
  }
}
