import { engine, type Job, type LoggedEvent, type Outcome, type Store, silentLogger } from '@waybill/core';
import { type StoreFactory, settleChange } from '@waybill/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DeliveredEvent } from '../../event-bus/envelope.ts';
import { dispatcherHandler } from '../dispatcher-handler.ts';
import { deliveredFrom } from './delivered.ts';
import { dyingStore } from './dying-store.ts';

const node = (id: string, ...depends_on: string[]) => ({ id, type: `t.${id}`, args: [], depends_on });
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

/** Jobs, and of which tasks each run fails. */
const SHAPES: [name: string, nodes: ReturnType<typeof node>[], fails: readonly string[]][] = [
  ['a diamond', [node('a'), node('b', 'a'), node('c', 'a'), node('d', 'b', 'c')], []],
  ['a wide fan-in', [...names(8).map((name) => node(name)), node('sum', ...names(8))], []],
  ['a branch that fails', [node('a'), node('b', 'a'), node('c'), node('d', 'c'), node('e', 'd')], ['b']],
];

/** The same numbers each time, from a seed. */
function* chances(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

function shuffled<T>(list: readonly T[], chance: Iterator<number>): T[] {
  const keyed = list.map((value) => ({ value, key: chance.next().value as number }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}

/**
 * One function invocation after the other takes the event, each dying one call later than the one before, until one of them
 * lives long enough. So every call of a dispatcher is the last one of some process.
 */
async function deliver(store: Store, event: DeliveredEvent): Promise<void> {
  for (let calls = 1; ; calls += 1) {
    const open = async () => ({ store: dyingStore(store, calls) });
    const isDone = await dispatcherHandler({ open, logger: silentLogger })(event).then(
      () => true,
      () => false,
    );
    if (isDone) return;
  }
}

/** Workers end what can be claimed, and die before they do what follows. */
async function work(store: Store, fails: readonly string[]): Promise<number> {
  const waybill = engine({
    store: dyingStore(store, Number.POSITIVE_INFINITY),
    logger: silentLogger,
    maintenance: false,
  });
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 100 });
  const outcomeOf = ({ node: name }: Job): Outcome =>
    fails.includes(name ?? '')
      ? { kind: 'discarded', error: { code: 'boom', message: 'no' } }
      : { kind: 'completed', result: name };
  await store.apply(leases.map(({ job }) => settleChange(job, outcomeOf(job), store.clock.now())));
  return leases.length;
}

/** Dispatchers on one store, which get everything twice and in any order, and die after each of their calls. */
export function testDispatcherRace(name: string, factory: StoreFactory, { dispatchers = 20 } = {}): void {
  // fault: dispatchers die after each call to the store; events are doubled and out of order
  describe(`${dispatchers} dispatchers on ${name} that die after each call`, () => {
    test.each(SHAPES)('dispatch each task of %s once, and close the job once', async (_, nodes, fails) => {
      const { store, close } = await factory();
      onTestFinished(() => close());
      const waybill = engine({
        store: dyingStore(store, Number.POSITIVE_INFINITY),
        ...{ logger: silentLogger, maintenance: false },
      });
      const chance = chances(nodes.length);
      const callbacks = { on_complete: { type: 'callback', args: [], options: { queue: 'callbacks' } } };
      const { id } = await waybill.workflows.create({ type: 'dag', failure_policy: 'continue', nodes, callbacks });
      while ((await work(store, fails)) > 0) {
        const events = await deliveredFrom(waybill);
        const each = Array.from({ length: dispatchers }, () => shuffled([...events, ...events], chance));
        await Promise.all(
          each.map(async (own) => {
            for (const event of own) await deliver(store, event);
          }),
        );
      }
      const log = (await waybill.events.read({ limit: 1_000 })).events;
      const counts = (type: LoggedEvent['type']) => Object.values(countBy(log, type)).map((count) => count);
      expect(counts('job.enqueued').every((count) => count === 1)).toBe(true);
      expect(counts('job.started').every((count) => count === 1)).toBe(true);
      const { state } = await waybill.workflows.get(id);
      expect(state).toBe(fails.length > 0 ? 'failed' : 'completed');
      expect(log.filter(({ type }) => type === `workflow.${state}`)).toHaveLength(1);
      expect(await waybill.jobs.list({ filter: { queues: ['callbacks'] } })).toMatchObject({
        items: [{ type: 'callback' }],
      });
      const { items } = await waybill.workflows.nodes(id);
      expect(items.filter(({ node: of }) => of !== null)).toHaveLength(nodes.length);
      for (const own of Map.groupBy(log, ({ subject, jobId, source }) => `${subject ?? jobId} ${source}`).values())
        expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1));
    });
  });
}

function countBy(log: readonly LoggedEvent[], type: LoggedEvent['type']): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const event of log) {
    if (event.type === type && event.jobId !== undefined) counts[event.jobId] = (counts[event.jobId] ?? 0) + 1;
  }
  return counts;
}
