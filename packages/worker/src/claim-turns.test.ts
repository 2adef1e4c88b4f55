import type { Lease } from '@waybill/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedTurns, sameTurns, type Turn } from './claim-turns.ts';
import type { ResolvedQueue } from './queue-options.ts';
import { QueueSlots } from './queue-slots.ts';

const WAIT_MS = 20_000;

const leaseOf = (queue: string): Lease => ({ token: '', job: { queue } as Lease['job'] });

/** What a store with these jobs answers to a claim: earlier queues first. */
function serve(backlog: Map<string, number>, { queues, count }: Turn): Lease[] {
  const leases: Lease[] = [];
  for (const queue of queues) {
    const given = Math.min(count - leases.length, backlog.get(queue) ?? 0);
    backlog.set(queue, (backlog.get(queue) ?? 0) - given);
    for (let n = 0; n < given; n += 1) leases.push(leaseOf(queue));
  }
  return leases;
}

const queue = (name: string, weight = 1, concurrency = Number.POSITIVE_INFINITY): ResolvedQueue => ({
  ...{ name, weight, concurrency },
});

const turns = (queues: readonly ResolvedQueue[], order: 'fair' | 'strict' = 'fair') => {
  const slots = new QueueSlots(queues);
  return { slots, shared: new SharedTurns(queues, order, slots, WAIT_MS) };
};

describe('shares', () => {
  it('D7: whatever the weights and the sizes of claims, each queue with jobs gets its share', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 5 });
    const rooms = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 200, maxLength: 200 });
    fc.assert(
      fc.property(weights, rooms, (given, sizes) => {
        const queues = given.map((weight, index) => queue(`q${index}`, weight));
        const { shared } = turns(queues);
        const backlog = new Map(queues.map(({ name }) => [name, 1_000_000]));
        const served = new Map<string, number>();
        for (const room of sizes) {
          const turn = shared.next(room)!;
          expect(turn).toMatchObject({ count: room, waitMs: WAIT_MS });
          const leases = serve(backlog, turn);
          for (const { job } of leases) served.set(job.queue, (served.get(job.queue) ?? 0) + 1);
          shared.brought(turn, leases);
        }
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const all = given.reduce((sum, weight) => sum + weight, 0);
        // Off by less than one claim of each queue, however long it goes on.
        for (const { name, weight } of queues)
          expect(Math.abs((served.get(name) ?? 0) - (total * weight) / all)).toBeLessThanOrEqual(20 * given.length);
      }),
    );
  });

  it('D7: a trickle that never fills its share does not count as saved up when it becomes a flood', () => {
    const { shared } = turns([queue('bulk'), queue('mail')]);
    const backlog = new Map([
      ['bulk', 1_000_000],
      ['mail', 0],
    ]);
    const claim = (room: number): Lease[] => {
      const turn = shared.next(room)!;
      const leases = serve(backlog, turn);
      shared.brought(turn, leases);
      return leases;
    };
    for (let n = 0; n < 1_000; n += 1) {
      backlog.set('mail', backlog.get('mail')! + 1);
      claim(10);
    }
    expect(backlog.get('mail')).toBeLessThan(10);
    backlog.set('mail', 1_000_000);
    const served = Array.from({ length: 10 }, () => claim(10)).flat();
    expect(served.filter(({ job }) => job.queue === 'bulk').length).toBeGreaterThanOrEqual(40);
  });

  it('D7: begins anew when all queues are empty, with the order that was given', () => {
    const { shared } = turns([queue('bulk'), queue('mail')]);
    const first = shared.next(10)!;
    shared.brought(
      first,
      [...Array(10)].map(() => leaseOf('bulk')),
    );
    const second = shared.next(10)!;
    expect(second.queues).toEqual(['mail', 'bulk']);
    shared.brought(second, []);
    expect(shared.next(10)!.queues).toEqual(['bulk', 'mail']);
  });
});

describe('bounds', () => {
  it('D7: no claim can bring more jobs of a queue than it may run, and all jobs are claimed in the end', () => {
    const bound = fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 8 }));
    const some = fc.array(fc.record({ weight: fc.integer({ min: 1, max: 5 }), bound, jobs: fc.nat(60) }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(some, fc.constantFrom('fair' as const, 'strict' as const), fc.nat(), (given, order, seed) => {
        const queues = given.map(({ weight, bound: most }, index) => queue(`q${index}`, weight, most));
        const { shared, slots } = turns(queues, order);
        const backlog = new Map(queues.map(({ name }, index) => [name, given[index]!.jobs]));
        const held: string[] = [];
        let isQuiet = false;
        for (let n = 0; !isQuiet; n += 1) {
          expect(n).toBeLessThan(5_000);
          const turn = held.length < 10 ? shared.next(10 - held.length) : null;
          const leases = turn === null ? [] : serve(backlog, turn);
          if (turn !== null) shared.brought(turn, leases);
          // A claim that waits names whatever is open. When nothing is held, that is everything.
          isQuiet = turn !== null && turn.waitMs > 0 && leases.length + held.length === 0;
          for (const { job } of leases) {
            held.push(job.queue);
            slots.take(job.queue);
          }
          for (const { name, concurrency } of queues)
            expect(held.filter((one) => one === name).length).toBeLessThanOrEqual(concurrency);
          if (leases.length === 0 && held.length > 0) slots.release(held.splice((seed + n) % held.length, 1)[0]!);
        }
        expect([...backlog.values()].every((left) => left === 0)).toBe(true);
      }),
    );
  });

  it('D7: the wait of a claim that leaves out a full queue ends when that one has room again', () => {
    const { shared, slots } = turns([queue('mail', 1, 1), queue('bulk')]);
    expect(shared.next(5)).toMatchObject({ queues: ['mail', 'bulk'], count: 1, waitMs: WAIT_MS, reopened: null });
    slots.take('mail');
    const { reopened, ...turn } = shared.next(5)!;
    expect(turn).toEqual({ queues: ['bulk'], count: 5, waitMs: WAIT_MS });
    expect(reopened!.signal.aborted).toBe(false);
    slots.release('mail');
    expect(reopened!.signal.aborted).toBe(true);
  });

  it('D7: with every queue at its bound there is nothing to claim', () => {
    const { shared, slots } = turns([queue('mail', 1, 1)]);
    slots.take('mail');
    expect(shared.next(5)).toBeNull();
    slots.release('mail');
    expect(shared.next(5)).toMatchObject({ queues: ['mail'], count: 1 });
  });
});

it('D7: one queue, or strict order, makes nothing anew from claim to claim', () => {
  const same = sameTurns(['mail'], WAIT_MS);
  const first = same.next(5);
  expect(first).toEqual({ queues: ['mail'], count: 5, waitMs: WAIT_MS, reopened: null });
  expect(same.next(7)).toBe(first);
  expect(first!.count).toBe(7);
});
