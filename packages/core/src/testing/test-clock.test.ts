import { describe, expect, it } from 'vitest';
import { TEST_EPOCH, TestClock } from './test-clock.ts';

describe('TestClock', () => {
  it('stands still until it is moved', async () => {
    const clock = new TestClock();
    expect([clock.now(), clock.monotonic()]).toEqual([TEST_EPOCH, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([TEST_EPOCH + 250, 250]);
    await clock.set(TEST_EPOCH + 1000);
    expect([clock.now(), clock.monotonic()]).toEqual([TEST_EPOCH + 1000, 1000]);
  });

  it('refuses to go back', async () => {
    const clock = new TestClock();
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
    await expect(clock.set(TEST_EPOCH - 1)).rejects.toThrow(RangeError);
    await expect(clock.advance(Number.NaN)).rejects.toThrow(RangeError);
  });

  it('wakes sleepers in the order of their times, each at its own time', async () => {
    const clock = new TestClock();
    const woken: [string, number][] = [];
    const sleep = async (name: string, ms: number) => {
      await clock.sleep(ms);
      woken.push([name, clock.monotonic()]);
    };
    const all = [sleep('c', 300), sleep('a', 100), sleep('b', 200), sleep('late', 301)];
    await clock.advance(300);
    expect(woken).toEqual([
      ['a', 100],
      ['b', 200],
      ['c', 300],
    ]);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    await Promise.all(all);
  });

  it('waits for who is on the way to sleep, so that nobody misses the hour', async () => {
    const clock = new TestClock();
    let wokenAt: number | undefined;
    const sleep = async () => {
      for (let step = 0; step < 50; step += 1) await Promise.resolve();
      await clock.sleep(100);
      wokenAt = clock.monotonic();
    };
    const asleep = sleep();
    await clock.advance(300);
    expect(wokenAt).toBe(100);
    await asleep;
  });

  it('lets a sleeper act, and sleep again, before the next one wakes', async () => {
    const clock = new TestClock();
    const times: number[] = [];
    const loop = async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(100);
        // A long chain of promises still belongs to this moment.
        for (let step = 0; step < 50; step++) await null;
        times.push(clock.monotonic());
      }
    };
    const done = loop();
    await clock.advance(1000);
    expect(times).toEqual([100, 200, 300]);
    expect(clock.monotonic()).toBe(1000);
    await done;
  });

  it('a jump of the wall clock wakes nobody and moves no monotonic time', async () => {
    const clock = new TestClock();
    let woke = false;
    const sleeping = clock.sleep(1000).then(() => {
      woke = true;
    });
    clock.jump(3_600_000);
    clock.jump(-7_200_000);
    await clock.advance(999);
    expect([woke, clock.monotonic(), clock.now()]).toEqual([false, 999, TEST_EPOCH - 3_600_000 + 999]);
    await clock.advance(1);
    await sleeping;
    expect(woke).toBe(true);
  });

  it('an aborted sleep ends at once, and leaves no sleeper', async () => {
    const clock = new TestClock();
    const abort = new AbortController();
    const sleeping = clock.sleep(1000, abort.signal);
    expect(clock.sleepers).toBe(1);
    abort.abort();
    await sleeping;
    await clock.sleep(1000, abort.signal);
    await clock.sleep(0);
    expect(clock.sleepers).toBe(0);
  });

  it('tells when the code under test has come to rest', async () => {
    const clock = new TestClock();
    const resting = clock.whenSleeping(2);
    const sleeping = [clock.sleep(10), clock.sleep(20)];
    await resting;
    await clock.whenSleeping();
    await clock.advance(20);
    await Promise.all(sleeping);
  });
});
