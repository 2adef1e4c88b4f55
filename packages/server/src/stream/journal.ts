import { entryToWire, eventToWire, JOURNAL_MESSAGES as MESSAGES } from '@waybill/client';
import {
  type FollowedItem,
  type FollowJobQuery,
  isFinished,
  OUTPUT_TYPE,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import type { JournalAsked } from '../ojs/journal-query.ts';
import type { Surface } from '../surface.ts';
import { gathered } from './gathered.ts';
import { OutputText } from './output-text.ts';
import { pump } from './pump.ts';
import { SideMessages } from './side-messages.ts';
import { SSE_HEADERS, sseMessage, sseMessages } from './sse.ts';

const PLAIN_HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
  // What a process writes is no page, whatever it looks like.
  'X-Content-Type-Options': 'nosniff',
};

/** History behind the cursor, then live. A last message marks the end of the job, which a broken connection does not have. */
export function streamJournal(
  c: Ctx,
  id: string,
  { filter, lifecycle, stay }: JournalAsked,
  surface: Surface,
): Response {
  const { jobs } = portOf(c);
  const follow = (signal: AbortSignal) =>
    gathered(journalMessages(jobs, id, { ...filter, lifecycle, stay, signal }, surface));
  return c.body(pump(c, surface, { kind: 'journal', follow }), 200, SSE_HEADERS);
}

async function* journalMessages(
  jobs: Waybill['jobs'],
  id: string,
  query: FollowJobQuery,
  surface: Surface,
): AsyncGenerator<Uint8Array> {
  const side = new SideMessages<Uint8Array>();
  const put = (name: string) => () => side.put(name, sseMessage(name));
  const items = jobs.follow(id, { ...query, onMissed: put(MESSAGES.missed), onLive: put(MESSAGES.live) });
  yield* sseMessages(itemMessages(items), { surface, side, after: query.cursor });
  // An engine that closes ends its followers, too.
  if (!query.stay && !query.signal?.aborted && (await hasEnded(jobs, id))) yield sseMessage(MESSAGES.end);
}

async function* itemMessages(items: AsyncIterable<FollowedItem>): AsyncGenerator<Uint8Array> {
  for await (const item of untilGone(items))
    yield item.kind === 'entry'
      ? sseMessage(MESSAGES.entry, entryToWire(item.entry), item.cursor)
      : sseMessage(MESSAGES.lifecycle, eventToWire(item.event), item.cursor);
}

/** A queue may keep nothing of its completed jobs. */
async function hasEnded(jobs: Waybill['jobs'], id: string): Promise<boolean> {
  try {
    return isFinished((await jobs.get(id)).state);
  } catch (error) {
    return WaybillError.from(error).code === 'not_found';
  }
}

/** That a job is deleted while it is followed is no fault. The next call for it is refused with `not_found`. */
async function* untilGone<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    if (WaybillError.from(error).code !== 'not_found') throw error;
  }
}

/** The bytes of stdout and stderr as they were written. Where a part of them is missing, a line says so. */
export function streamOutput(
  c: Ctx,
  id: string,
  { filter, follow: isFollowed, stay, stream }: JournalAsked,
  surface: Surface,
): Response {
  const { jobs } = portOf(c);
  const follow = (signal: AbortSignal) => {
    const live = new AbortController();
    const text = new OutputText(stream);
    const query: FollowJobQuery = {
      ...{ ...filter, types: [OUTPUT_TYPE], stay, onMissed: () => text.miss() },
      signal: AbortSignal.any([signal, live.signal]),
      // All that was there has been sent.
      ...(!isFollowed && { onLive: () => live.abort() }),
    };
    return gathered(text.of(untilGone(jobs.follow(id, query))));
  };
  // Any heartbeat would be taken for output.
  if (isFollowed) c.env?.allowSilence?.();
  return c.body(pump(c, surface, { kind: 'output', follow, endMeansComplete: true }), 200, PLAIN_HEADERS);
}
