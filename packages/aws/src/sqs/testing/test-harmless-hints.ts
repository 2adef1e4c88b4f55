import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import type { Hint, Store } from '@waybill/core';
import type { TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SqsOptions } from '../settings.ts';
import { useLocalSqs } from './bench.ts';
import { failing, World } from './world.ts';

const JOBS = 12;
/** How often a request is made before the transport gives up on it. */
const TRIES = 3;
/** A lease that nobody prolongs. */
const SHORT_LEASE_MS = 10_000;

export type StoreForHints = (clock: TestClock) => Promise<Store>;

/**
 * Whatever happens to the messages: no job is lost, none has two effects, and all are done within the bound, which is a
 * second where the store can be looked into and the first reminder where it cannot.
 */
export function testHarmlessHints(name: string, openStore: StoreForHints, boundMs: number): void {
  const local = useLocalSqs();

  async function open(options: SqsOptions = {}): Promise<World> {
    const sqs = local();
    const world = new World(sqs, await openStore(sqs.clock), await sqs.open(options));
    onTestFinished(() => world.waybill.close());
    return world;
  }

  async function recovers(world: World, scenario: string, withinMs = boundMs): Promise<void> {
    const took = await world.recover(withinMs);
    process.stdout.write(`${name}: ${scenario}: all done after ${took} ms of virtual time\n`);
    expect(took).toBeLessThanOrEqual(withinMs);
    await ends(world);
  }

  async function ends(world: World): Promise<void> {
    await world.settleDown();
    expect([...world.effects.values()].every((count) => count === 1)).toBe(true);
    const states = await Promise.all(world.ids.map((id) => world.waybill.jobs.get(id)));
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['completed']));
    for (const role of ['high', 'default', 'low', 'redrive']) expect(world.messages(role)).toEqual([]);
  }

  const hintsOf = (world: World): Hint[] =>
    world.ids.map((jobId) => ({
      ...{ tenant: '', jobId, queue: 'mails', type: 'mail.send', priority: 0, attempt: 0, delayMs: 0 },
    }));

  const urlOf = (world: World): string => world.sqs.server.inspectQueue(world.nameOf())!.url;

  describe(`guarantee 5: hints are harmless over ${name}`, () => {
    // fault: none, the rule itself
    it('nothing happens to them', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await recovers(world, 'nothing happened');
    });

    // fault: the message queue is purged
    it('the queue is purged', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await world.sqs.client.send(new PurgeQueueCommand({ QueueUrl: urlOf(world) }));
      await recovers(world, 'queue purged');
    });

    // fault: every message comes twice
    it('every message is doubled', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await world.transport.send(hintsOf(world));
      await recovers(world, 'messages doubled');
    });

    // fault: half of the messages are lost
    it('half of the messages are dropped', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await world.steal(JOBS / 2);
      await recovers(world, 'half dropped');
    });

    // fault: messages come ten minutes late
    it('messages are delayed past the lease', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await world.steal(JOBS, { hideS: 600 });
      await recovers(world, 'messages delayed by ten minutes');
    });

    // fault: messages come in reverse order
    it('messages come in reverse', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      const bodies = await world.steal(JOBS);
      for (const body of bodies.reverse()) world.sqs.server.sendMessage(world.nameOf(), body);
      await recovers(world, 'messages reversed');
    });

    // fault: messages come again after the jobs have ended
    it('messages come after completion', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await world.recover(boundMs);
      await world.transport.send(hintsOf(world));
      await recovers(world, 'messages after completion');
    });

    // fault: unreadable messages come between the others
    it('poison comes between them', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      for (let i = 0; i < JOBS; i++) world.sqs.server.sendMessage(world.nameOf(), i % 2 ? '{"job_id":1}' : 'poison');
      await recovers(world, 'poison between messages');
      expect(world.transport.poisoned).toBe(JOBS);
    });

    // fault: messages are moved to the wrong queue
    it('messages go to the wrong queue', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      expect(await world.claim({ queues: ['other'] })).toEqual([]);
      for (const body of await world.steal(JOBS)) world.sqs.server.sendMessage(world.nameOf('default', 'other'), body);
      expect(await world.claim({ queues: ['other'] })).toEqual([]);
      await recovers(world, 'messages in the wrong queue');
    });

    // fault: the worker falls silent and its lease runs out
    it('a worker dies, and another takes over when the lease has run out', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      const dead = await world.claim({ leaseMs: SHORT_LEASE_MS });
      expect(dead.length).toBeGreaterThan(0);
      await recovers(world, 'leases of ten seconds ran out', SHORT_LEASE_MS + boundMs);
      for (const lease of dead) await expect(world.complete(lease)).rejects.toMatchObject({ code: 'lease_lost' });
    });

    // fault: messages become visible again while their jobs run
    it('receipts expire while their jobs run', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      const leases = await world.claim({ leaseMs: SHORT_LEASE_MS, workerId: 'one' });
      // These heartbeats name no token, so they keep the leases and not the messages.
      const jobs = leases.map(({ job }) => ({ id: job.id }));
      for (let beats = 0; beats < 4; beats++) {
        await world.pass(5_000);
        expect(await world.waybill.jobs.heartbeat({ workerId: 'one', jobs })).toMatchObject({ lost: [] });
        const others = await world.claim();
        expect(others.filter(({ job }) => jobs.some(({ id }) => id === job.id))).toEqual([]);
        await Promise.all(others.map((lease) => world.complete(lease)));
      }
      await Promise.all(leases.map((lease) => world.complete(lease)));
      await recovers(world, 'receipts expired');
    });

    // fault: the message queue is deleted
    it('the queue is deleted', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      world.sqs.server.deleteQueue(world.nameOf());
      await recovers(world, 'queue deleted');
    });

    // fault: the message cannot be deleted
    it('guarantee 6: rows are settled and their messages cannot be deleted: the redelivery is dropped', async () => {
      const sqs = local();
      const { client, fault } = failing(sqs.client, 'DeleteMessageBatchCommand');
      const world = new World(sqs, await openStore(sqs.clock), await sqs.open({ client }));
      onTestFinished(() => world.waybill.close());
      await world.enqueue(JOBS);
      fault.isOn = true;
      await world.recover(boundMs);
      expect(world.messages()).not.toEqual([]);
      fault.isOn = false;
      await recovers(world, 'messages not deleted');
    });

    // fault: no message can be sent
    it('hints cannot be sent', async () => {
      const sqs = local();
      const { client, fault } = failing(sqs.client, 'SendMessageBatchCommand');
      const world = new World(sqs, await openStore(sqs.clock), await sqs.open({ client }));
      onTestFinished(() => world.waybill.close());
      fault.isOn = true;
      const { job } = await world.waybill.jobs.enqueue({ type: 'mail.send', args: [], options: { queue: 'mails' } });
      world.ids.push(job.id);
      while (fault.failures < TRIES) await new Promise((resolve) => setImmediate(resolve));
      fault.isOn = false;
      await recovers(world, 'hints not sent');
    });
  });

  describe(`guarantee 6: jobs that may not run yet never end in the redrive queue, over ${name}`, () => {
    /** Ten looks, each after the messages would have become visible again. */
    async function wait(world: World): Promise<void> {
      for (let looks = 0; looks < 10; looks++) {
        expect(await world.claim()).toEqual([]);
        await world.pass(31_000);
        expect(world.messages('redrive')).toEqual([]);
      }
    }

    // fault: messages come again and again while the queue is paused
    it('paused', async () => {
      const world = await open();
      await world.enqueue(JOBS);
      await world.waybill.queues.pause('mails');
      await wait(world);
      await world.waybill.queues.resume('mails');
      await recovers(world, 'paused for five minutes');
    });

    // fault: messages come again and again for jobs without a slot
    it('limited', async () => {
      const world = await open();
      await world.enqueue(3, { rate_limit: { key: 'one-at-a-time', concurrency: 1 } });
      const [first] = await world.claim({ leaseMs: 3_600_000 });
      await world.transport.send(hintsOf(world).slice(1));
      await wait(world);
      await world.complete(first!);
      await recovers(world, 'limited to one');
    });

    // fault: messages come again and again for jobs that run
    it('held', async () => {
      const world = await open();
      await world.enqueue(2);
      const held = await world.claim({ leaseMs: 3_600_000 });
      await world.transport.send(hintsOf(world));
      await wait(world);
      for (const lease of held) await world.complete(lease);
      await recovers(world, 'held for five minutes');
    });
  });
}
