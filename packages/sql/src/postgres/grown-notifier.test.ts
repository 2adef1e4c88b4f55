import { type GrownListener, silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { GrownNotifier } from './grown-notifier.ts';
import { grownIds } from './link/grown-payload.ts';
import { postgresStore } from './store.ts';
import { append } from './testing/journals.ts';
import { execute, postgresUrl, tempSchema, tempStore } from './testing/server.ts';
import { add, claim } from './testing/work.ts';

/** Keeps what comes, and lets a test wait for the next of it. */
function kept<T>() {
  const all: T[] = [];
  let tell = () => {};
  const keep = (one: T): void => {
    all.push(one);
    tell();
  };
  const until = async (count: number): Promise<T[]> => {
    while (all.length < count) {
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
    return all;
  };
  return { all, keep, until };
}

function aNotifier() {
  const sent = kept<string>();
  const here = kept<readonly string[] | undefined>();
  const query = async (_: string, values: readonly unknown[] = []) => {
    sent.keep(String(values[0]));
    return [];
  };
  const notifier = new GrownNotifier({ name: 'me', query, grown: here.keep }, 'notify');
  onTestFinished(() => notifier.close());
  return { notifier, sent, here };
}

test('others are told at once, and then of all that came meanwhile', async () => {
  const { notifier, sent, here } = aNotifier();
  notifier.grown(['a']);
  for (const id of ['b', 'c', 'b']) notifier.grown([id]);
  notifier.grown([]);
  expect(here.all).toEqual([['a'], ['b'], ['c'], ['b']]);
  expect(sent.all.map((payload) => grownIds(payload, 'other'))).toEqual([['a']]);
  expect((await sent.until(2)).map((payload) => grownIds(payload, 'other'))).toEqual([['a'], ['b', 'c']]);
  expect(sent.all.map((payload) => grownIds(payload, 'me'))).toEqual([[], []]);
});

test('more jobs than a notification holds are told as any', () => {
  const { notifier, sent } = aNotifier();
  notifier.grown(Array.from({ length: 200 }, (_, n) => `0190a1b2-0000-7000-8000-${String(n).padStart(12, '0')}`));
  expect(Buffer.byteLength(sent.all[0]!)).toBeLessThan(4_000);
  expect([grownIds(sent.all[0], 'other'), grownIds(sent.all[0], 'me')]).toEqual([null, []]);
});

test('another process hears which journals have grown, for as long as it follows', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const [here, there] = await Promise.all(
    [1, 2].map(() => tempStore(postgresStore, { url, schema, logger: silentLogger })),
  );
  const heard = kept<readonly string[] | undefined>();
  const listener: GrownListener = (ids) => heard.keep(ids);
  const stop = here!.journal!.onGrown(listener);
  // Whatever was said before the connection listened is made up for by one call for everything.
  expect(await heard.until(1)).toEqual([undefined]);
  await add(here!, 2);
  const [own, others] = await claim(here!, 2);
  await append(here!, own!, [1, 1]);
  await append(there!, others!, [1, 1]);
  // Its own once, and not again by the notification.
  expect(await heard.until(3)).toEqual([undefined, [own!.id], [others!.id]]);
  stop();
  const unlistened = `select count(*)::int from pg_stat_activity where query = 'unlisten "waybill_${schema}_grown"'`;
  await expect.poll(async () => (await execute(url, unlistened))[0]![0], { timeout: 10_000 }).toBe(1);
});

test('a store that does not listen says so', async () => {
  const store = await tempStore(postgresStore, { listen: false });
  expect(store.capabilities.wakesAcrossProcesses).toBe(false);
  expect((await tempStore(postgresStore)).capabilities.wakesAcrossProcesses).toBe(true);
});
