import { isFinished, isJobEvent, type Job, kindOf, type LoggedEvent, type Store } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { expect } from 'vitest';
import type { useLocalDynamo } from './bench.ts';
import { factsIn } from './facts.ts';
import { FaultyClient } from './faulty-client.ts';

/** More than any readers' or sweepers' patience with a process that died. */
const LONG_MS = 120_000;
const MOST_REQUESTS = 200;

export interface Scene<S> {
  /** What is there before. */
  prepare(store: Store, clock: TestClock): Promise<S>;
  /** What the process is doing when it dies, and what somebody else does again afterwards. */
  act(store: Store, scene: S, clock: TestClock): Promise<unknown>;
  /** What must hold between the crash and the repetition. */
  between?(store: Store, scene: S): Promise<void>;
  /** What must hold in the end. */
  check(store: Store, scene: S, clock: TestClock): Promise<void>;
  /** What the log tells of subjects in the end, in short. */
  tells?: string[];
}

/** Lets a process die after each of its requests in turn; another one then does the same again. */
export async function crashEverywhere<S>(local: ReturnType<typeof useLocalDynamo>, scene: Scene<S>): Promise<number> {
  for (let requests = 1; requests <= MOST_REQUESTS; requests++) {
    const clock = new TestClock();
    const table = local.newTable();
    const sound = await local.open({ table, clock, largestTransaction: 12 });
    const prepared = await scene.prepare(sound.store, clock);
    const client = new FaultyClient(local.client());
    const doomed = await local.open({ table, clock, client, largestTransaction: 12 });
    client.faults = { crashAfter: client.requests.length + requests };
    const died = await scene.act(doomed.store, prepared, clock).then(
      () => false,
      (reason: Error) => {
        expect(reason.name, String(reason.stack)).toBe('Crashed');
        return true;
      },
    );
    // A new process knows nothing of what the dead one held in memory.
    const next = await local.open({ table, clock, largestTransaction: 12 });
    await scene.between?.(next.store, prepared);
    await clock.advance(LONG_MS);
    await next.store.due({ now: clock.now(), limit: 100 });
    await scene.act(next.store, prepared, clock);
    await scene.check(next.store, prepared, clock);
    // Readers wait for a position that the dead process had drawn, from the moment on when they see it.
    await next.store.events.read({ filter: { tenant: '*' }, limit: 1000 });
    await clock.advance(LONG_MS);
    const events = await checkLog(next.store);
    expect(factsIn(events), `after ${requests} requests`).toEqual(scene.tells ?? []);
    await sound.close();
    if (!died) return requests - 1;
  }
  throw new Error(`The scene needs more than ${MOST_REQUESTS} requests.`);
}

/** Guarantee 4: the events of every row are there, in order and each once; and none of what never happened. */
export async function checkLog(store: Store): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.events.read({
      filter: { tenant: '*' },
      limit: 100,
      ...(after === undefined ? {} : { after }),
    });
    events.push(...page.events);
    if (page.atEnd) break;
    after = page.cursor;
  }
  const changes = events.filter(isJobEvent).filter(({ source }) => source === 'server');
  for (const [id, own] of Map.groupBy(changes, ({ jobId }) => jobId)) {
    const [job] = await store.get([{ tenant: '', id }]);
    expect(sequencesOf(own), `events of ${job?.state} job ${id}`).toEqual(upTo(job?.version ?? 0));
  }
  const facts = events.filter((event) => !isJobEvent(event));
  const nameOf = ({ type, subject, source }: LoggedEvent) => `${kindOf(type)} ${subject} by ${source}`;
  for (const [name, own] of Map.groupBy(facts, nameOf)) {
    expect(sequencesOf(own), `events of ${name}`).toEqual(upTo(own.length));
  }
  return events;
}

const sequencesOf = (events: readonly LoggedEvent[]): number[] => events.map(({ sequence }) => sequence);

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

export async function allJobs(store: Store): Promise<Job[]> {
  return (await store.list({ filter: { tenant: '' }, limit: 100 })).items;
}

/** Guarantee 7: as many slots are counted as jobs hold one. */
export async function checkLimit(store: Store, key: string, most: number): Promise<void> {
  const jobs = (await allJobs(store)).filter((job) => job.limitKey === key);
  const holders = jobs.filter((job) => job.holdsSlot);
  const waiting = jobs.filter((job) => job.state === 'available' && !job.holdsSlot);
  const living = jobs.filter((job) => !isFinished(job.state));
  expect(await store.limits.get('', key)).toMatchObject({ holders: holders.length, parked: waiting.length });
  expect(holders.length).toBe(Math.min(most, living.length));
}
