import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { LEASE_MS } from '../sinks/held-lock.ts';
import type { Store } from '../store/store.ts';
import type { Waybill } from '../waybill.ts';
import { type RecordingSink, recordingSink } from './recording-sink.ts';
import { severable } from './severed-store.ts';
import type { StoreFactory } from './store/bench.ts';

const DAY_MS = 86_400_000;
const SOON = { timeout: 10_000 };
const TYPES = { types: ['job.enqueued'] } as const;
const idsOf = (sink: RecordingSink) => sink.got.map(({ event }) => event.jobId);

/** One server of a store, with its own way to it. */
function server(store: Store, sink: RecordingSink) {
  // Another server has the lock: whoever knows that sleeps until its lease ends.
  const lockTaken = Promise.withResolvers<void>();
  let refusals = 0;
  const way = severable(store, (answer) => {
    if ((answer as { status?: string } | null)?.status !== 'taken') return;
    refusals += 1;
    lockTaken.resolve();
  });
  const waybill = engine({ store: way.store, logger: silentLogger, maintenance: false });
  const sinks = waybill.sinks!.run({ list: async () => [sink] });
  onTestFinished(async () => {
    way.mend();
    sink.behave = () => {};
    await waybill.close();
  });
  return { ...way, waybill, sinks, lockTaken: lockTaken.promise, refusals: () => refusals };
}

async function enqueue({ jobs }: Waybill, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let at = 0; at < count; at += 1) made.push((await jobs.enqueue({ type: 'test.job', args: [at] })).job.id);
  return made;
}

/** What sinks promise where several servers share a store: cursor, lock and fence on that very store. */
export function testSinks(name: string, factory: StoreFactory): void {
  const open = async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    return made;
  };

  describe(`sinks on ${name}`, () => {
    test('a server goes on where another one has stopped, and repeats nothing', async () => {
      const { store } = await open();
      const [first, second] = [recordingSink('s', TYPES), recordingSink('s', TYPES)];
      const a = server(store, first);
      await a.waybill.sinks!.moveTo(first, null);
      const before = await enqueue(a.waybill, 3);
      await first.whenGot(3);
      await a.sinks.stop();
      const between = await enqueue(a.waybill, 2);
      const b = server(store, second);
      const after = await enqueue(b.waybill, 1);
      await second.whenGot(3);
      expect(idsOf(first).sort()).toEqual(before.sort());
      expect(idsOf(second).sort()).toEqual([...between, ...after].sort());
      expect(await b.waybill.sinks!.state(first)).toMatchObject({ status: 'active', delivered: 3 });
    });

    test('a server that dies is replaced after its lease: nothing is missed, and what comes twice has one id', async () => {
      const { store, clock } = await open();
      const [first, second] = [recordingSink('s', TYPES), recordingSink('s', TYPES)];
      const a = server(store, first);
      await a.waybill.sinks!.moveTo(first, null);
      const delivered = await enqueue(a.waybill, 3);
      await first.whenGot(3);
      // Its deliveries are not saved yet, and one is under way.
      const held = Promise.withResolvers<void>();
      const began = Promise.withResolvers<void>();
      first.behave = () => {
        began.resolve();
        return held.promise;
      };
      const underWay = await enqueue(a.waybill, 1);
      await began.promise;
      a.sever();
      const b = server(store, second);
      const later = await enqueue(b.waybill, 1);
      await b.lockTaken;
      expect(second.tries).toEqual([]);
      await clock.advance(LEASE_MS + 1_000);
      await second.whenGot(5);
      expect(idsOf(second).sort()).toEqual([...delivered, ...underWay, ...later].sort());
      const idOf = (sink: RecordingSink) => new Map(sink.tries.map(({ event, id }) => [event.jobId, id]));
      for (const [job, id] of idOf(first)) expect(idOf(second).get(job)).toBe(id);

      // The first one comes back and still believes in what it did; it may not move the cursor, nor deliver.
      a.mend();
      held.resolve();
      await a.sinks.stop();
      await b.sinks.stop();
      expect(first.tries).toHaveLength(4);
      expect(second.got).toHaveLength(5);
      expect(await b.waybill.sinks!.state(second)).toMatchObject({ delivered: 5, status: 'active' });
    });

    // fault: the server dies by itself, and the clock that its lease was written by is set back by a day
    test('a server that dies while its clock is a day ahead is replaced after its lease, too', async () => {
      const { store, clock } = await open();
      const [first, second] = [recordingSink('s', TYPES), recordingSink('s', TYPES)];
      clock.jump(DAY_MS);
      const a = server(store, first);
      await a.waybill.sinks!.moveTo(first, null);
      const delivered = await enqueue(a.waybill, 1);
      await first.whenGot(1);
      a.sever();
      clock.jump(-DAY_MS);
      const b = server(store, second);
      const later = await enqueue(b.waybill, 1);
      await b.lockTaken;
      await clock.advance(LEASE_MS - 1);
      expect(second.tries).toEqual([]);
      await clock.advance(2_000);
      await expect.poll(() => idsOf(second).sort(), SOON).toEqual([...delivered, ...later].sort());
    });

    test('a server that renews its lease keeps it, however often another one asks for it', async () => {
      const { store } = await open();
      const [first, second] = [recordingSink('s', TYPES), recordingSink('s', TYPES)];
      const a = server(store, first);
      await a.waybill.sinks!.moveTo(first, null);
      const before = await enqueue(a.waybill, 1);
      await first.whenGot(1);
      const b = server(store, second);
      for (const times of [1, 2, 3]) {
        await expect.poll(b.refusals, SOON).toBeGreaterThanOrEqual(times);
        b.sinks.refresh();
      }
      const after = await enqueue(a.waybill, 1);
      await expect.poll(() => idsOf(first), SOON).toEqual([...before, ...after]);
      expect(second.tries).toEqual([]);
    });

    test('two servers side by side deliver each event once', async () => {
      const { store } = await open();
      const [first, second] = [recordingSink('s', TYPES), recordingSink('s', TYPES)];
      const a = server(store, first);
      await a.waybill.sinks!.moveTo(first, null);
      const before = await enqueue(a.waybill, 1);
      await first.whenGot(1);
      const b = server(store, second);
      await b.lockTaken;
      const after = await enqueue(a.waybill, 5);
      await first.whenGot(6);
      await b.sinks.stop();
      await a.sinks.stop();
      expect(idsOf(first).sort()).toEqual([...before, ...after].sort());
      expect(second.tries).toEqual([]);
    });

    test('whoever saves late is refused: a moved cursor is not moved back', async () => {
      const { store } = await open();
      const sink = recordingSink('s', TYPES);
      const a = server(store, sink);
      await a.waybill.sinks!.moveTo(sink, null);
      const ids = await enqueue(a.waybill, 2);
      await sink.whenGot(2);
      await a.waybill.sinks!.moveTo(sink, null);
      await sink.whenGot(4);
      await a.sinks.stop();
      const twice = [...ids, ...ids].sort();
      expect(idsOf(sink).sort()).toEqual(twice);
    });

    test('what happens after a record was made is delivered, whichever server looks first', async () => {
      const { store } = await open();
      const sink = recordingSink('w1', TYPES, 'a');
      const way = severable(store);
      const waybill = engine({ store: way.store, logger: silentLogger, maintenance: false });
      onTestFinished(() => waybill.close());
      const { jobs, records, sinks } = waybill;
      const at = { tenant: 'a' };
      await jobs.enqueue({ type: 'test.job', args: [] }, at);
      await records!.put({ kind: 'webhook', id: 'w1', value: { url: 'x' }, expected: 0 }, at);
      const { job } = await jobs.enqueue({ type: 'test.job', args: [] }, at);
      expect(await sinks!.tenantsWith('webhook')).toEqual(['a']);
      sinks!.run({ list: async () => [sink] });
      await sink.whenGot(1);
      expect(idsOf(sink)).toEqual([job.id]);
      // A refused second one leaves the first where it is.
      const again = records!.put({ kind: 'webhook', id: 'w1', value: {}, expected: 0 }, at);
      await expect(again).rejects.toMatchObject({ code: 'conflict' });
      await records!.remove('webhook', 'w1', at);
      expect(await sinks!.state(sink)).toBeNull();
    });
  });
}
