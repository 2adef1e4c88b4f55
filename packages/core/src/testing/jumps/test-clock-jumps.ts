import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoreFactory } from '../store/bench.ts';
import { Fleet } from './fleet.ts';

const DAY_MS = 86_400_000;
const JOBS = 12;
/** Looks of two servers in a second: by the clock, by what was written, and by what became due. */
const MOST_LOOKS_PER_SECOND = 10;

interface Turn {
  /** By how much the clock is set; mostly not at all. */
  jump: number;
  /** Which server the worker talks to. */
  server: number;
  passMs: number;
  claims: number;
  settles: number;
  /** Runs whose worker dies. */
  dies: number;
}

const anyTurn: fc.Arbitrary<Turn> = fc.record({
  jump: fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -DAY_MS, max: DAY_MS }) },
  ),
  server: fc.nat(1),
  passMs: fc.integer({ min: 100, max: 45_000 }),
  claims: fc.nat(4),
  settles: fc.nat(3),
  dies: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
});

export interface JumpOptions {
  /** Random histories to try; each needs a fresh store. @defaultValue 10 */
  runs?: number;
}

/** Clocks that are set, forwards or back: nothing is lost or done twice, and no loop spins. */
export function testClockJumps(name: string, factory: StoreFactory, { runs = 10 }: JumpOptions = {}): void {
  const property = (who: 'all' | 'one') =>
    fc.assert(
      fc.asyncProperty(fc.array(anyTurn, { minLength: 5, maxLength: 15 }), (turns) => live(factory, turns, who)),
      { numRuns: runs, endOnFailure: true },
    );

  describe(`${name} while clocks are set by up to a day`, () => {
    // fault: the wall clock of all servers jumps forwards and back, again and again
    it(
      'guarantees 1, 2, 9: on all servers, no job is lost or taken from a worker that lives',
      {
        timeout: 300_000,
      },
      () => property('all'),
    );

    // fault: the wall clock of one server jumps forwards and back while that of the other is right
    it('guarantees 1, 3, 9: on one server, every job ends, and once', { timeout: 300_000 }, () => property('one'));
  });
}

async function live(factory: StoreFactory, turns: readonly Turn[], who: 'all' | 'one'): Promise<void> {
  const made = await factory();
  const fleet = new Fleet(made);
  try {
    for (let n = 0; n < JOBS; n += 1) {
      // Enough attempts for runs that a server with a wrong clock takes for lost.
      const retry = { max_attempts: 100, initial_interval: 'PT1S' };
      await fleet.enqueue(n % 2, n % 3 === 0 ? { retry, scheduled_at: `+PT${n * 7}S` } : { retry });
    }
    const job_template = { type: 'test.tick', args: [], options: { queue: 'ticks' } };
    await fleet.server(0).crons.put({ name: 'often', expression: '* * * * *', job_template });
    for (const turn of turns) {
      if (turn.jump !== 0) fleet.jump(who, turn.jump);
      await play(fleet, turn);
    }
    if (who === 'all') expect(fleet.lost).toEqual([]);
    await finish(fleet);
    expect(fleet.enqueued.filter((id) => !fleet.completed.has(id))).toEqual([]);
    expect([...fleet.completed].filter(([, times]) => times !== 1)).toEqual([]);
    await expectNoTickTwice(fleet);
  } finally {
    await fleet.close();
    await made.close();
  }
}

async function play(fleet: Fleet, { server, claims, settles, dies, passMs }: Turn): Promise<void> {
  if (claims > 0) await fleet.claim(server, claims);
  await fleet.settleSome(server, settles);
  fleet.forgetSome(dies);
  const [sweeps, since] = [fleet.sweeps, fleet.clock.monotonic()];
  await fleet.pass(server, passMs);
  const seconds = (fleet.clock.monotonic() - since) / 1_000;
  expect(fleet.sweeps - sweeps, 'a loop spins').toBeLessThan(50 + seconds * MOST_LOOKS_PER_SECOND);
}

/** All clocks agree again, and show a time that no clock has shown before: whatever waits has come up. */
async function finish(fleet: Fleet): Promise<void> {
  fleet.agree();
  const isOver = () => fleet.enqueued.every((id) => fleet.completed.has(id));
  for (let minute = 0; minute < 5 && !isOver(); minute += 1) {
    await fleet.claim(0, 50);
    await fleet.settleSome(0, 50);
    await fleet.pass(0, 60_000);
  }
}

/** A tick is the idempotency key of its job, so two jobs of one tick have the same key. */
async function expectNoTickTwice(fleet: Fleet): Promise<void> {
  const keys: (string | null)[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const filter = { types: ['test.tick'] };
    const page = await fleet.server(0).jobs.list({ filter, limit: 100, ...(cursor !== undefined && { cursor }) });
    keys.push(...page.items.map(({ idempotencyKey }) => idempotencyKey));
    cursor = page.cursor;
    more = cursor !== undefined;
  }
  expect(new Set(keys).size).toBe(keys.length);
}
