import type { BusEventType } from '../event-types.ts';
import { appKey, tenantKey, typeKey } from '../keys.ts';
import type { EventQuery, Found, Span } from './event-query.ts';

export interface TimelineQuery extends Span {
  /** 1 to 1,000. @defaultValue 100 */
  limit?: number;
  cursor?: string;
}

/** Newest first, a page at a time. */
export interface TimelineQueries {
  /** Everything of a tenant. */
  tenantTimeline(tenant: string, query?: TimelineQuery): Promise<Found>;
  /** Everything of an application, of all its tenants. */
  appTimeline(app: string, query?: TimelineQuery): Promise<Found>;
  /** All events of a type of a tenant; of one application, where it is named. */
  eventsOfType(type: BusEventType, query?: TimelineQuery & { tenant?: string; app?: string }): Promise<Found>;
}

const DEFAULT_LIMIT = 100;
const MOST_EVENTS = 1_000;

export function timelineQueries(query: EventQuery): TimelineQueries {
  const page = (place: Parameters<EventQuery['page']>[0], { limit = DEFAULT_LIMIT, cursor, ...span }: TimelineQuery) =>
    query.page(place, span, Math.min(Math.max(1, limit), MOST_EVENTS), cursor);
  return {
    tenantTimeline: (tenant, asked = {}) => page({ partition: tenantKey(tenant) }, asked),
    appTimeline: (app, asked = {}) => page({ index: 2, partition: appKey(app) }, asked),
    eventsOfType: (type, { tenant = '', app, ...asked } = {}) => {
      const partition = typeKey(type);
      if (app === undefined) return page({ index: 4, partition, prefix: `${tenantKey(tenant)}#` }, asked);
      return page({ index: 6, partition, prefix: `${tenantKey(tenant)}#${appKey(app)}#` }, asked);
    },
  };
}
