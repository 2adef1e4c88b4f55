import { describe, expect, it } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Lease } from '../waybill.ts';
import { withSignedLeases } from './signed-leases.ts';
import { TokenSigner } from './token-signer.ts';

const DONE = { kind: 'completed', result: null } as const;
const keyOf = ({ token }: Lease): string => token.split('.')[1]!;

/** Servers of one store, each with an engine, a signer and a cache of its own. */
function servers() {
  const clock = new TestClock();
  const on = memoryStore({ clock });
  const start = () => {
    const { waybill, enqueue } = testEngine({ on, clock, maintenance: false });
    const keys = waybill.keys.taskTokens!;
    const { jobs } = withSignedLeases(waybill, new TokenSigner(keys, clock));
    const claim = async () => {
      await enqueue();
      return (await jobs.claim({ queues: ['default'], workerId: 'w1' }))[0]!;
    };
    const settle = ({ job, token: leaseToken }: Lease) => jobs.settle({ id: job.id, leaseToken, outcome: DONE });
    return { keys, claim, settle };
  };
  return { clock, start };
}

describe('a rotation of the key of task tokens', () => {
  // fault: a server has read the keys right before the rotation, and another one starts right after it
  it('is learned by all servers before any of them signs with the new key', async () => {
    const { clock, start } = servers();
    const before = start();
    const first = await before.claim();
    await clock.advance(500);
    await before.keys.rotate();
    const after = start();
    const second = await after.claim();
    expect(await before.settle(second)).toMatchObject({ state: 'completed' });
    expect(await after.settle(first)).toMatchObject({ state: 'completed' });
    expect(keyOf(second)).toBe(keyOf(first));
    await clock.advance(120_000);
    const third = await after.claim();
    expect(keyOf(third)).not.toBe(keyOf(first));
    expect(await before.settle(third)).toMatchObject({ state: 'completed' });
  });

  it('may follow the first key of a store at once, and says so', async () => {
    const { clock, start } = servers();
    const { keys } = start();
    expect(await keys.rotate()).toEqual({ signsFrom: clock.now(), nextFrom: clock.now() });
    expect(await keys.rotate()).toEqual({ signsFrom: clock.now() + 120_000, nextFrom: clock.now() + 420_000 });
    await expect(keys.rotate()).rejects.toMatchObject({ code: 'conflict' });
  });

  // fault: an operator rotates as often as the store allows
  it('costs no lease of two minutes, whichever server signs and whichever opens', async () => {
    const { clock, start } = servers();
    const all = [start(), start(), start()];
    const open: Lease[] = [];
    const seen = new Set<string>();
    for (let step = 0; step < 120; step += 1) {
      const lease = await all[step % 3]!.claim();
      seen.add(keyOf(lease));
      open.push(lease);
      await all[0]!.keys.rotate().catch((error) => expect(error).toMatchObject({ code: 'conflict' }));
      await clock.advance(9_000);
      if (open.length > 2) await all[(step >> 1) % 3]!.settle(open.shift()!);
    }
    expect(seen.size).toBeGreaterThan(2);
  });

  // fault: two operators rotate at the same moment
  it('is refused while the one before is under way, and says when the next one is possible', async () => {
    const { clock, start } = servers();
    const { keys, claim, settle } = start();
    const lease = await claim();
    const rivals = await Promise.allSettled([keys.rotate(), keys.rotate()]);
    const done = rivals.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(done).toHaveLength(1);
    const { signsFrom, nextFrom } = done[0]!;
    expect(signsFrom).toBe(clock.now() + 120_000);
    expect(nextFrom).toBeGreaterThanOrEqual(signsFrom + 60_000);
    await clock.advance(nextFrom - clock.now() - 1);
    const hint = expect.stringContaining(new Date(nextFrom).toISOString());
    await expect(keys.rotate()).rejects.toMatchObject({ code: 'conflict', hint });
    expect(await settle(lease)).toMatchObject({ state: 'completed' });
    await clock.advance(1);
    await keys.rotate();
  });
});
