import { checkNames } from '../check.ts';
import { isJobEvent, type LogEvent, type LoggedEvent } from '../events/job-event.ts';
import { kindOf } from '../events/subject-event.ts';
import type { EventFilter } from '../store/event-log.ts';
import type { Events, FollowQuery, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const FILTERS = ['tenant', 'types', 'queues', 'jobIds'];

/** The log has no index of types: events of other types are read, and not shown. */
export function scopedEvents({ events }: Waybill, caller: Caller): Events {
  /** What is left of a filter; null: nothing can match. */
  const narrow = (filter: Partial<EventFilter> = {}): EventFilter | null => {
    checkNames('A filter of events', filter, FILTERS);
    const tenant = caller.enterLog(filter);
    const queues = caller.queuesAmong(filter.queues);
    return queues?.length === 0 ? null : { ...filter, tenant, ...(queues && { queues }) };
  };

  /** A queue is visible to whoever may see it; of anything else that is no job it is not known whose it is. */
  const isShown = (event: LogEvent): boolean => {
    if (!caller.isNarrowed) return true;
    if (isJobEvent(event)) return caller.sees({ queue: event.queue, type: event.jobType });
    return kindOf(event.type) === 'queue' && caller.seesQueue(event.subject);
  };

  async function* followed(query: FollowQuery): AsyncGenerator<LoggedEvent> {
    for await (const event of events.follow(query)) if (isShown(event)) yield event;
  }

  return {
    read: async (query = {}) => {
      const filter = narrow(query.filter);
      if (filter === null)
        return { events: [], cursor: query.after ?? (await events.end()), atEnd: true, missed: false };
      const page = await events.read({ ...query, filter });
      return caller.isNarrowed ? { ...page, events: page.events.filter(isShown) } : page;
    },
    end: async () => {
      caller.need('read');
      return events.end();
    },
    follow: (query) => {
      const filter = narrow(query.filter);
      if (filter === null) return silence(query.signal);
      return caller.isNarrowed ? followed({ ...query, filter }) : events.follow({ ...query, filter });
    },
  };
}

/** Ends with the signal, as every stream does. */
async function* silence(signal: AbortSignal): AsyncGenerator<never> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
