import { checkNames } from '../check.ts';
import { isJobEvent, type LogEvent, type LoggedEvent } from '../events/job-event.ts';
import { kindOf } from '../events/subject-event.ts';
import type { EventFilter } from '../store/event-log.ts';
import type { Events, FollowQuery, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

const FILTERS = ['tenant', 'types', 'queues', 'jobIds'];

const isAudit = (type: string): boolean => kindOf(type) === 'audit';

/** The log has no index of types: events of other types are read, and not shown. */
export function scopedEvents({ events }: Waybill, caller: Caller): Events {
  const seesAll = caller.may('admin') && !caller.isNarrowed;

  /** Whoever asks for the audit must learn that it is not shown, and not that nothing was done. */
  const mustSeeAudit = (): void => {
    caller.need('admin');
    caller.needAll('the audit is of every queue and type');
  };

  /** What is left of a filter; null: nothing can match. */
  const narrow = (filter: Partial<EventFilter> = {}): EventFilter | null => {
    checkNames('A filter of events', filter, FILTERS);
    const tenant = caller.enterAll('read', filter);
    if (filter.types?.some(isAudit)) mustSeeAudit();
    const queues = caller.queuesAmong(filter.queues);
    return queues?.length === 0 ? null : { ...filter, tenant, ...(queues && { queues }) };
  };

  /** A queue is visible to whoever may see it; of anything else that is no job it is not known whose it is. */
  const isShown = (event: LogEvent): boolean => {
    if (!caller.isNarrowed) return seesAll || !isAudit(event.type);
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
      return seesAll ? page : { ...page, events: page.events.filter(isShown) };
    },
    end: async () => {
      caller.need('read');
      return events.end();
    },
    follow: (query) => {
      const filter = narrow(query.filter);
      if (filter === null) return silence(query.signal);
      return seesAll ? events.follow({ ...query, filter }) : followed({ ...query, filter });
    },
  };
}

/** Ends with the signal, as every stream does. */
async function* silence(signal: AbortSignal): AsyncGenerator<never> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
