import { expect, test } from 'vitest';
import { aJob, type JobOverrides } from '../testing/factories.ts';
import type { LoggedEvent } from './job-event.ts';
import { LiveFeed } from './live-feed.ts';

const MOST_WAITING = 1_000;

function event(cursor: number, overrides: JobOverrides = {}): LoggedEvent {
  const { events } = aJob(overrides);
  return { ...events[0]!, cursor: String(cursor) };
}

/** A feed that has begun, with so many events that nobody has taken. */
function filled(count: number): LiveFeed {
  const feed = new LiveFeed({ tenant: '' });
  feed.begin('0');
  for (let cursor = 1; cursor <= count; cursor += 1) feed.push(event(cursor));
  return feed;
}

test('keeps a bounded number of events for a reader that does not take them', async () => {
  const fed = await filled(MOST_WAITING).take();
  expect(fed).toMatchObject({ events: { length: MOST_WAITING }, missed: false });
});

test('lapses with one event more, keeps none, and stays lapsed', async () => {
  const feed = filled(MOST_WAITING + 1);
  expect(await feed.take()).toBe('lapsed');
  feed.push(event(MOST_WAITING + 2));
  expect(await feed.take()).toBe('lapsed');
});

test('takes what its filter lets through, from the place where it began', async () => {
  const feed = new LiveFeed({ tenant: '', queues: ['mails'] });
  feed.push(event(1, { queue: 'mails' }));
  feed.begin('1');
  feed.push(event(2, { queue: 'other' }));
  feed.push(event(3, { queue: 'mails' }));
  const fed = await feed.take();
  expect(fed).toMatchObject({ events: [{ cursor: '3' }] });
});
