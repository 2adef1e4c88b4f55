import { DatabaseSync } from 'node:sqlite';
import type { LogEvent, Store, SubjectEventType, Told } from '@waybill/core';
import { aJob, aWorkflow, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { inChild, openStore, tempFile } from './testing/temp-store.ts';

const told = (type: SubjectEventType, subject: string): Told => ({ type, tenant: '', subject, at: 5, data: {} });

const eventsOf = async (store: Store): Promise<LogEvent[]> =>
  (await store.events.read({ filter: { tenant: '*' }, limit: 1_000 })).events;

const sequencesOf = (events: readonly LogEvent[], type: string): number[] =>
  events.filter((event) => event.type === type).map(({ sequence }) => sequence);

function countersIn(path: string): unknown[][] {
  const db = new DatabaseSync(path, { readOnly: true });
  const found = db.prepare('select kind, subject, count from subjects order by kind, subject').all();
  db.close();
  return found.map((row) => Object.values(row));
}

test('the counter of a workflow is pruned with it, those of others stay', async () => {
  const [path, clock] = [tempFile(), new TestClock()];
  const store = await openStore({ path, clock });
  const end = { tenant: '', from: 'running', to: 'completed', now: clock.now(), jobs: [] } as const;
  for (const id of ['ended', 'running']) {
    await store.insert([{ jobs: [aJob()], edges: [], workflow: { create: aWorkflow({ id, total: 1 }) } }]);
    await store.workflows.move({ ...end, id, told: told('workflow.completed', id) });
  }
  await store.workflows.move({ ...end, id: 'running', from: 'completed', to: 'running' });
  await store.queues.setPaused('', 'q', true, told('queue.paused', 'q'));
  const counters = [
    ['queue', 'q', 1],
    ['workflow', 'ended', 1],
    ['workflow', 'running', 1],
  ];
  expect(countersIn(path)).toEqual(counters);
  await clock.advance(1_000);
  const old = { finishedBefore: clock.now(), deadBefore: clock.now(), eventsBefore: 0, limit: 100 };
  await store.prune(old);
  expect(await store.workflows.get('', 'ended')).toBeNull();
  expect(countersIn(path)).toEqual([counters[0], counters[2]]);
});

test('what fails after it was told leaves neither the event nor its number behind', async () => {
  const store = await openStore();
  const call = (type: SubjectEventType) => store.events.tell([told(type, 's')]);
  // Sent together, they share a transaction.
  const unreadable = { ...told('key.noted', 's'), data: null as never };
  const answers = await Promise.allSettled([
    call('key.noted'),
    store.events.tell([told('key.noted', 's'), unreadable]),
    call('key.noted'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(sequencesOf(await eventsOf(store), 'key.noted')).toEqual([1, 2]);
});

// fault: another process writes to the same file
test('guarantee 4: two processes that tell of one subject give it no number twice and leave none out', async () => {
  const path = tempFile();
  const store = await openStore({ path });
  const code = `
    const store = await sqliteStore({ path });
    const told = { type: 'key.noted', tenant: '', subject: 's', at: 5, data: { by: process.pid } };
    for (let turn = 0; turn < 20; turn += 1) await store.events.tell([told]);
    await store.close();
    console.log('done');`;
  expect(await Promise.all([1, 2].map(() => inChild(path, code)))).toEqual(['done', 'done']);
  const events = await eventsOf(store);
  expect(sequencesOf(events, 'key.noted')).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  expect(new Set(events.map(({ data }) => data['by'])).size).toBe(2);
});
