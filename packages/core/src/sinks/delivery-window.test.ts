import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LoggedEvent } from '../events/job-event.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { DeliveryWindow } from './delivery-window.ts';

const eventOf = (job: number, at: number): LoggedEvent => ({
  ...{ type: 'job.enqueued', tenant: '', jobId: `j${job}`, jobType: 't', queue: 'q', run: 0, attempt: 0 },
  ...{ source: 'server', sequence: at + 1, at, data: {}, cursor: `c${at}` },
});

test('whatever ends in which order, the cursor never passes what is not done, and a job has one event under way', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4), { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 60 }), (jobs, choices) => {
      const window = new DeliveryWindow(null, { events: 1_000, bytes: 1_000_000, share: 1 });
      jobs.forEach((job, at) => {
        window.push(eventOf(job, at));
      });
      const done: number[] = [];
      for (const choice of choices) {
        const waiting = [...window.waiting()];
        if (waiting.length === 0) break;
        expect(new Set(waiting.map(({ event }) => event.jobId)).size).toBe(waiting.length);
        const one = waiting[choice % waiting.length]!;
        const before = done.filter((at) => jobs[at] === jobs[one.event.at]);
        expect(before.every((at) => at < one.event.at)).toBe(true);
        window.done(one);
        done.push(one.event.at);
        const firstLeft = jobs.findIndex((_, at) => !done.includes(at));
        const upTo = firstLeft === -1 ? jobs.length : firstLeft;
        expect(window.cursor).toBe(upTo === 0 ? null : `c${upTo - 1}`);
        expect(window.head?.event.at).toBe(firstLeft === -1 ? undefined : firstLeft);
      }
    }),
    { numRuns: propertyRuns(200) },
  );
});

test('is full by number and by size, and has room again when the oldest is done', () => {
  const window = new DeliveryWindow(null, { events: 2, bytes: 1_000_000, share: 1 });
  window.push(eventOf(1, 0));
  expect(window.isFull).toBe(false);
  window.push(eventOf(2, 1));
  expect(window.isFull).toBe(true);
  const [first, second] = [...window.waiting()];
  // The first still stands in the way of the cursor.
  window.done(second!);
  expect([window.isFull, window.cursor]).toEqual([true, null]);
  window.done(first!);
  expect([window.isFull, window.cursor, window.size]).toEqual([false, 'c1', 0]);

  const small = new DeliveryWindow(null, { events: 100, bytes: 10, share: 1 });
  small.push({ ...eventOf(1, 0), data: { text: 'longer than ten' } });
  expect(small.isFull).toBe(true);
});

test('goes on behind what is for others', () => {
  const window = new DeliveryWindow('a', { events: 9, bytes: 1_000, share: 1 });
  window.passedTo('b');
  expect(window.cursor).toBe('b');
  window.push(eventOf(1, 0));
  window.passedTo('z');
  expect(window.cursor).toBe('b');
  window.done([...window.waiting()][0]!);
  expect(window.cursor).toBe('z');
});
