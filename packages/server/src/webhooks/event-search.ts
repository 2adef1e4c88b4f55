import { type Clock, eventIdOf, type LoggedEvent, type Waybill, WaybillError } from '@waybill/core';

const PAGE = 1_000;
/** The log is read from its begin, so a search in a long one is given up. */
const DEADLINE_MS = 20_000;
const UUID = /^evt_([0-9a-f]{8}-[0-9a-f-]{27})_/;

type Log = Pick<Waybill['events'], 'read'>;

/** The place in the log before the first event of this moment or later; null: before everything that is kept. */
export async function cursorBefore(log: Log, tenant: string, moment: number, clock: Clock): Promise<string | null> {
  let before: string | null = null;
  for await (const { event, cursor } of eventsOf(log, { tenant }, clock)) {
    if (event && event.at >= moment) return before;
    before = cursor;
  }
  return before;
}

/** The event with this id, if it is still kept. */
export async function eventById(log: Log, tenant: string, id: string, clock: Clock): Promise<LoggedEvent> {
  const jobId = UUID.exec(id)?.[1];
  const filter = { tenant, ...(jobId !== undefined && { jobIds: [jobId] }) };
  for await (const { event } of eventsOf(log, filter, clock)) if (event && eventIdOf(event) === id) return event;
  throw new WaybillError('not_found', `There is no event '${id.slice(0, 200)}' in the log.`, {
    hint: 'Take the id of an event as GET /ojs/v1/events shows it. Old events are pruned.',
  });
}

/**
 * Whether a sink that is at `current` and goes on behind `asked` leaves out what it has not delivered. Cursors cannot be
 * compared, so the events behind both places are: the first ones behind `current` must come again behind `asked`.
 */
export async function leavesOut(
  log: Log,
  tenant: string,
  { current, asked }: { current: string | null; asked: string | null },
  clock: Clock,
): Promise<boolean> {
  if (asked === null || asked === current) return false;
  const undelivered = new Set<string>();
  for await (const { event } of eventsOf(log, { tenant }, clock, current)) {
    if (event) undelivered.add(eventIdOf(event));
    else if (undelivered.size > 0) break;
  }
  if (undelivered.size === 0) return false;
  for await (const { event } of eventsOf(log, { tenant }, clock, asked)) {
    if (event && undelivered.delete(eventIdOf(event)) && undelivered.size === 0) return false;
  }
  return true;
}

/** Each event with the cursor behind it, and the end of each page. */
async function* eventsOf(
  log: Log,
  filter: { tenant: string; jobIds?: string[] },
  clock: Clock,
  from: string | null = null,
) {
  const until = clock.monotonic() + DEADLINE_MS;
  for (let after = from ?? undefined; ; ) {
    const page = await log.read({ filter, limit: PAGE, ...(after !== undefined && { after }) });
    for (const event of page.events) yield { event, cursor: event.cursor };
    yield { event: null, cursor: page.cursor };
    if (page.atEnd) return;
    if (clock.monotonic() > until) {
      throw new WaybillError('timeout', 'The log is too long to be searched.', { hint: "Name a cursor in 'after'." });
    }
    after = page.cursor;
  }
}
