import { silentLogger } from '@waybill/core';
import { testEngine } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { task } from '@waybill/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Connection, connect, connectionTo } from './connect.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

const failing = (queue: string, more: object = {}) =>
  task(`fail.${queue}`, {
    queue,
    retry: { max_attempts: 1, ...more },
    run: () => {
      throw new Error('no hope');
    },
  });

/** Every job of these tasks fails for good. */
async function failAll(waybill: Connection, tasks: readonly ReturnType<typeof failing>[]): Promise<void> {
  waybill.work(tasks);
  for (const one of tasks) {
    const job = await waybill.enqueue(one);
    await expect(waybill.wait(job, { timeoutMs: 20_000 })).rejects.toMatchObject({ code: 'conflict' });
  }
}

const deadTypes = async ({ deadLetters }: Connection): Promise<string[]> =>
  (await deadLetters.list({ limit: 10 })).items.map(({ type }) => type).sort();

describe.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('D2: a job that failed for good, %s', (_, open) => {
  it('is a dead letter, and runs again', async () => {
    const waybill = await open();
    const tasks = [failing('kept'), failing('gone', { on_exhaustion: 'discard' })];
    await failAll(waybill, tasks);
    expect(await deadTypes(waybill)).toEqual(['fail.kept']);
    const { items } = await waybill.jobs.list({ filter: { states: ['discarded'] }, limit: 10 });
    expect(items).toHaveLength(2);
    for (const { id } of items) {
      expect(await waybill.jobs.retry(id)).toMatchObject({ state: 'available', attempt: 0, dead: false });
      await expect(waybill.wait(id, { timeoutMs: 20_000 })).rejects.toMatchObject({ code: 'conflict' });
      expect(await waybill.jobs.get(id)).toMatchObject({ run: 2, attempt: 1, state: 'discarded' });
    }
  });

  it('of an envelope without a policy is discarded, as the Open Job Spec says', async () => {
    const waybill = await open();
    waybill.work([failing('kept')]);
    const { job } = await waybill.jobs.enqueue({
      ...{ type: 'fail.kept', args: [], options: { queue: 'kept', retry: { max_attempts: 1 } } },
    });
    await expect(waybill.wait(job.id, { timeoutMs: 20_000 })).rejects.toMatchObject({ code: 'conflict' });
    expect(await deadTypes(waybill)).toEqual([]);
  });
});

it('D2: what becomes of failed jobs is set for all tasks of a connection, and for single queues', async () => {
  const { waybill: port } = testEngine();
  const server = await serve(createApp({ waybill: port, version: 'test' }), { port: 0, graceMs: 100 });
  const defaults = {
    retry: { on_exhaustion: 'discard' },
    queues: { money: { retry: { on_exhaustion: 'dead_letter' }, deadLetterMs: 5_000 } },
  } as const;
  const waybill = await connect(server.url, { defaults, logger: silentLogger });
  onTestFinished(async () => {
    await waybill.close();
    await server.close();
    await port.close();
  });
  await failAll(waybill, [failing('plain'), failing('money')]);
  const { items } = await waybill.deadLetters.list({ limit: 10 });
  expect(items.map(({ type }) => type)).toEqual(['fail.money']);
  const row = await port.jobs.get(items[0]!.id);
  expect(row.nextAt).toBe(row.finishedAt! + 5_000);
});

it('D2: a dead letter is kept as long as its task says, and goes with the retention then', async () => {
  const day = 86_400_000;
  const { waybill: port, clock } = testEngine({ sweepEveryMs: day, retention: { everyMs: day } });
  const waybill = connectionTo(port, { clock });
  onTestFinished(() => waybill.close());
  const idOf = async (deadLetterMs?: number) => {
    const queue = `q-${deadLetterMs ?? 'plain'}`;
    const one = task('fail.one', { queue, ...(deadLetterMs !== undefined && { deadLetterMs }), run: () => 1 });
    const { id } = await waybill.enqueue(one);
    const [lease] = await port.jobs.claim({ queues: [queue] });
    const outcome = { kind: 'discarded', error: { code: 'e', message: 'no' } } as const;
    await port.jobs.settle({ id, leaseToken: lease!.token, outcome });
    return id;
  };
  const [plain, short, long] = [await idOf(), await idOf(2 * day), await idOf(200 * day)];
  const dead = async () => new Set((await waybill.deadLetters.list({ limit: 10 })).items.map(({ id }) => id));
  expect(await dead()).toEqual(new Set([plain, short, long]));
  await clock.advance(2 * day);
  expect(await dead()).toEqual(new Set([plain, long]));
  await clock.advance(89 * day);
  expect(await dead()).toEqual(new Set([long]));
  await expect(port.jobs.get(plain)).rejects.toMatchObject({ code: 'not_found' });
  await clock.advance(110 * day);
  expect(await dead()).toEqual(new Set());
});
