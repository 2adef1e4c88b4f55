import { describe, expect, it } from 'vitest';
import { contain, fixture, lack, MB, otherUser, sh } from '../testing/contain.ts';
import { loopDelayOf } from '../testing/loop-delay.ts';

const ONE_SECOND_MS = 1000;

/** Runs the work, and expects that the loop of this process was not late by a second more than an idle process was. */
async function expectInTime<Value>(work: () => Promise<Value>): Promise<Value> {
  const { value, lateMs, idleMs } = await loopDelayOf(work);
  expect(lateMs - idleMs).toBeLessThan(ONE_SECOND_MS);
  return value;
}

// That contained programs give way to the worker is tested by their priority, in start-contained.test.ts.
describe.skipIf(lack)(`the worker's event loop is never late by a second (skipped: ${lack})`, () => {
  it('beside a fork bomb', async () => {
    const { outcome } = await expectInTime(() =>
      contain(['sh', fixture('fork-bomb.sh'), '20'], {
        ...otherUser,
        limits: { timeoutMs: 1500, killAfterMs: 500 },
      }).outcome(),
    );
    expect(outcome).toBe('timeout');
  });

  it('beside busy loops', async () => {
    const script = 'for i in 1 2 3 4 5 6 7 8; do while :; do :; done & done; wait';
    const { outcome } = await expectInTime(() => sh(script, { limits: { timeoutMs: 1500 } }).outcome());
    expect(outcome).toBe('timeout');
  });

  it('beside 500 MB of output, all of which is heard', async () => {
    const { outcome } = await expectInTime(() =>
      sh('exec head -c 500000000 /dev/zero', { limits: { maxOutputBytes: 2000 * MB } }).outcome(),
    );
    expect(outcome).toBe('exited');
  });

  it('beside millions of lines', async () => {
    let lines = 0;
    const hooks = { onLine: () => (lines += 1) };
    const { outcome } = await expectInTime(() =>
      sh('yes line | head -n 2000000 >&3', { channel: true, hooks }).outcome(),
    );
    expect({ outcome, lines }).toEqual({ outcome: 'exited', lines: 2_000_000 });
  });

  it('beside twenty programs at once', async () => {
    const exitCodes = Array.from({ length: 20 }, (_, index) => index);
    const ends = await expectInTime(() =>
      Promise.all(exitCodes.map((code) => sh(`sleep 0.${code}; (setsid sleep 1000 &); exit ${code}`).outcome())),
    );
    expect(ends.map(({ exitCode }) => exitCode)).toEqual(exitCodes);
  });
});
