import { describe, expect, it, type TestContext } from 'vitest';
import type { Delivery } from '../../transport/transport.ts';
import { hintFor, type OpenTransport, type TransportBench } from './bench.ts';

/** Longer than a transport under test hides a delivered message. */
const LONG_MS = 3_600_000;

/** Enqueues a job and receives its hint; skips the test where the transport delivers by claiming. */
async function deliver(bench: TransportBench, skip: TestContext['skip']) {
  const job = await bench.enqueue();
  const taken = await bench.take();
  if (taken.kind === 'claimed') skip('the transport claims and has no messages');
  expect(taken.deliveries).toMatchObject([{ tenant: '', jobId: job.id, queue: 'default' }]);
  return { job, held: taken.jobs[0]!, delivery: taken.deliveries[0]! };
}

function timeOf(bench: TransportBench, skip: TestContext['skip']): (ms: number) => Promise<void> {
  if (!bench.advance) skip('the test does not own the transport’s time');
  return bench.advance!;
}

const receipts = (deliveries: readonly Delivery[]): string[] => deliveries.map((delivery) => delivery.jobId);

/** What holds where deliveries are messages that stay until they are acknowledged. */
export function testMessages(open: OpenTransport): void {
  describe('messages', () => {
    it('a delivered message is hidden from other receivers', async ({ skip }) => {
      const bench = await open();
      await deliver(bench, skip);
      expect((await bench.take()).deliveries).toEqual([]);
    });

    // fault: the message is never acknowledged
    it('guarantee 6: a message that nobody acknowledged comes again, and the row says what it is worth', async ({
      skip,
    }) => {
      const bench = await open();
      const pass = timeOf(bench, skip);
      const { job, held } = await deliver(bench, skip);
      await bench.complete(held);
      await pass(LONG_MS);
      const again = await bench.take();
      expect(receipts(again.deliveries)).toEqual([job.id]);
      expect(again.statuses).toEqual(['finished']);
    });

    // fault: none, the rule itself
    it('guarantee 6: an acknowledged message never comes again', async ({ skip }) => {
      const bench = await open();
      const pass = timeOf(bench, skip);
      const { held, delivery } = await deliver(bench, skip);
      await bench.complete(held);
      await bench.transport.ack(delivery);
      await pass(LONG_MS);
      expect((await bench.take()).deliveries).toEqual([]);
    });

    it('acknowledging twice is like once', async ({ skip }) => {
      const bench = await open();
      const { delivery } = await deliver(bench, skip);
      await bench.transport.ack(delivery);
      await bench.transport.ack(delivery);
      expect((await bench.take()).deliveries).toEqual([]);
    });

    it('an acknowledgement takes its own message and no other of the same job', async ({ skip }) => {
      const bench = await open();
      const { job, delivery } = await deliver(bench, skip);
      await bench.transport.send([hintFor(job)]);
      await bench.transport.ack(delivery);
      const second = await bench.take();
      expect(second.statuses).toEqual(['held']);
      expect(receipts(second.deliveries)).toEqual([job.id]);
    });

    it('a message given back comes again at once', async ({ skip }) => {
      const bench = await open();
      const { job, delivery } = await deliver(bench, skip);
      await bench.transport.release(delivery, 0);
      expect(receipts((await bench.take({ waitMs: 1000 })).deliveries)).toEqual([job.id]);
    });

    it('a message given back with a delay comes after it', async ({ skip }) => {
      const bench = await open();
      const pass = timeOf(bench, skip);
      const { job, delivery } = await deliver(bench, skip);
      await bench.transport.release(delivery, 5000);
      await pass(4000);
      expect((await bench.take()).deliveries).toEqual([]);
      await pass(1000);
      expect(receipts((await bench.take()).deliveries)).toEqual([job.id]);
    });

    it('an extended message stays hidden as long as the lease', async ({ skip }) => {
      const bench = await open();
      const pass = timeOf(bench, skip);
      const { job, delivery } = await deliver(bench, skip);
      await bench.transport.extend(delivery, 2 * LONG_MS);
      await pass(LONG_MS);
      expect((await bench.take()).deliveries).toEqual([]);
      await pass(LONG_MS);
      expect(receipts((await bench.take()).deliveries)).toEqual([job.id]);
    });

    it('a hint with a delay is delivered after it', async ({ skip }) => {
      const bench = await open();
      const pass = timeOf(bench, skip);
      await deliver(bench, skip);
      const job = await bench.add();
      await bench.transport.send([hintFor(job, 5000)]);
      await pass(4000);
      expect((await bench.take()).deliveries).toEqual([]);
      await pass(1000);
      expect((await bench.take()).jobs).toMatchObject([{ id: job.id }]);
    });
  });
}
