import type { Clock } from '../clock.ts';
import type { EventLog } from '../store/event-log.ts';
import type { FollowQuery } from '../waybill.ts';
import type { LoggedEvent } from './job-event.ts';
import type { Signal } from './signal.ts';

const PAGE = 500;

/** Other processes' events are found this late at most. */
const LOOK_EVERY_MS = 250;

interface FollowParts {
  log: EventLog;
  clock: Clock;
  /** Rings when this process wrote events. */
  written: Signal;
}

/**
 * History behind the cursor first, then live, from one reader: there is no seam between the two where an event could
 * be lost or come twice. The caller pulls, so a slow reader simply reads later.
 */
export async function* follow({ log, clock, written }: FollowParts, query: FollowQuery): AsyncGenerator<LoggedEvent> {
  const { signal } = query;
  const filter = { tenant: '', ...query.filter };
  let { after } = query;
  while (!signal.aborted) {
    const ring = written.next();
    const page = await log.read({ limit: PAGE, ...(after !== undefined && { after }), filter });
    if (page.missed) query.onMissed?.();
    for (const event of page.events) {
      if (signal.aborted) return;
      yield event;
    }
    after = page.cursor;
    if (page.atEnd) await clock.sleep(LOOK_EVERY_MS, AbortSignal.any([ring, signal]));
  }
}
