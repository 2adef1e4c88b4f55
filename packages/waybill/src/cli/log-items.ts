import {
  type FollowedItem,
  isJobEvent,
  type JournalReadQuery,
  type LoggedEvent,
  precedesEntry,
  type Waybill,
} from '@waybill/core';

const PAGE = 1_000;

/** Something that a run has said, or that happened to its job, without the place where it was found. */
export type LogItem = FollowedItem extends infer One ? (One extends FollowedItem ? Omit<One, 'cursor'> : never) : never;

export interface LogQuery extends Omit<JournalReadQuery, 'tenant' | 'cursor' | 'limit'> {
  lifecycle: boolean;
}

export const atOf = (item: LogItem): number => (item.kind === 'entry' ? item.entry.at : item.event.at);
export const runOf = (item: LogItem): number => (item.kind === 'entry' ? item.entry.run : (item.event.run ?? 0));

/** What there is by now, in the order of time. */
export async function* history(
  { jobs, events }: Waybill,
  id: string,
  { lifecycle, ...filter }: LogQuery,
  onMissed: () => void,
): AsyncGenerator<LogItem> {
  let left = lifecycle ? await eventsOf(events, id) : [];
  for (let cursor: string | undefined; ; ) {
    const page = await jobs.journal(id, { ...filter, ...(cursor !== undefined && { cursor }) });
    if (page.missed) onMissed();
    for (const entry of page.entries) {
      for (; left.length > 0 && precedesEntry(left[0]!, entry.at); left = left.slice(1))
        yield { kind: 'event', event: left[0]! };
      yield { kind: 'entry', entry };
    }
    ({ cursor } = page);
    if (page.atEnd) break;
  }
  for (const event of left) yield { kind: 'event', event };
}

async function eventsOf(log: Waybill['events'], id: string, types?: ['job.started']): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let after: string | undefined; ; ) {
    const filter = { jobIds: [id], ...(types && { types }) };
    const page = await log.read({ filter, limit: PAGE, ...(after !== undefined && { after }) });
    found.push(...page.events);
    after = page.cursor;
    if (page.atEnd) return found;
  }
}

/** When each run has begun, as far as the log has kept it. */
export async function runStarts({ events }: Waybill, id: string): Promise<Map<number, number>> {
  const started = await eventsOf(events, id, ['job.started']);
  return new Map(started.filter(isJobEvent).map(({ run, at }) => [run, at]));
}

/** Leaves out what happened to the job in other runs, and before. */
export async function* within(
  items: AsyncIterable<LogItem>,
  { run, fromTime = 0 }: Pick<LogQuery, 'run' | 'fromTime'>,
): AsyncGenerator<LogItem> {
  for await (const item of items)
    if (item.kind === 'entry' || ((run === undefined || runOf(item) === run) && item.event.at >= fromTime)) yield item;
}

/** In the time that it took. The time between two runs is left out, because no run speaks then. */
export async function* played(
  items: AsyncIterable<LogItem>,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<LogItem> {
  let before: LogItem | undefined;
  for await (const item of items) {
    const gap = before && runOf(before) === runOf(item) ? atOf(item) - atOf(before) : 0;
    if (gap > 0) await sleep(gap, signal);
    if (signal.aborted) return;
    yield item;
    before = item;
  }
}
