import type { Engine } from '@waybill/core';
import { TestClock, testEngine } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempSchema, tempStore } from './testing/server.ts';

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => ({
    ...{ sequence: from + n, type: 'output', stream: 'stdout' as const, output: Buffer.from(`line ${from + n}\n`) },
  }));

/** What is followed, and a wait for so much of it. */
function follow(waybill: Engine, id: string) {
  const stop = new AbortController();
  const seen: number[] = [];
  let tell = () => {};
  const ended = (async () => {
    for await (const said of waybill.jobs.follow(id, { signal: stop.signal })) {
      if (said.kind === 'entry') seen.push(said.entry.sequence);
      tell();
    }
  })();
  const until = async (count: number) => {
    while (seen.length < count) {
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
    return seen;
  };
  const end = async () => {
    stop.abort();
    await ended.catch(() => {});
  };
  return { until, end };
}

// The clock stands still, so that nothing is found by looking again after a while.
test('what a run says to one server is followed on another', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const clock = new TestClock();
  const [here, there] = await Promise.all(
    [1, 2].map(async () => {
      const on = await tempStore(postgresStore, { url, schema, clock });
      return testEngine({ on, clock });
    }),
  );
  const id = await here!.enqueue();
  const { token } = await here!.claimOne({ workerId: 'w1' });
  const say = (from: number, to: number) =>
    here!.waybill.jobs.append({ id, leaseToken: token, entries: lines(from, to) });
  await say(1, 3);
  const followers = [here!, there!].map(({ waybill }) => follow(waybill, id));
  for (const { until } of followers) expect(await until(3)).toEqual([1, 2, 3]);
  for (let n = 4; n <= 20; n += 1) await say(n, n);
  const all = Array.from({ length: 20 }, (_, n) => n + 1);
  for (const { until } of followers) expect(await until(20)).toEqual(all);
  for (const { end } of followers) await end();
});
