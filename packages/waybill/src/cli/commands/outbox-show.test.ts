import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLogger, WaybillError } from '@waybill/core';
import { task, Worker } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

/** A worker whose server takes no entries, so that they stay in its outbox. */
async function withOutbox(): Promise<{ folder: string; id: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const terminal = new Terminal();
  const { job } = (await terminal.json('enqueue', 'a.b')) as { job: { id: string } };
  const said = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const speaking = task('a.b', {
    run: async (_, { emit }) => {
      await emit('step.done', { n: 1 }, { critical: true });
      said.resolve();
      await free.promise;
    },
  });
  const running = terminal.engine(async (waybill) => {
    let isAway = true;
    void free.promise.then(() => {
      isAway = false;
    });
    const append: typeof waybill.jobs.append = async (call) => {
      if (isAway) throw new WaybillError('unavailable', 'away');
      return waybill.jobs.append(call);
    };
    const worker = new Worker({
      jobs: { ...waybill.jobs, append },
      ...{ tasks: [speaking], outbox: folder, logger: silentLogger },
    }).start();
    await said.promise;
    await free.promise;
    await worker.stop();
  });
  onTestFinished(async () => {
    free.resolve();
    await running;
  });
  await Promise.race([said.promise, running]);
  return { folder, id: job.id };
}

test('shows what waits, by job and run, without a store and without a change', async () => {
  const { folder, id } = await withOutbox();
  const before = readdirSync(folder).filter((name) => name.endsWith('.wal'));
  const terminal = new Terminal('sqlite:./nowhere/at/all.db');
  expect(await terminal.json('outbox', 'show', folder)).toMatchObject({
    runs: [{ job_id: id, run: 1, state: 'open', entries: 1, critical: 1 }],
    unreadable: [],
  });
  expect(await terminal.text('outbox', 'show', folder)).toMatch(
    new RegExp(`JOB +RUN +STATE +ENTRIES +CRITICAL +BYTES +OLDEST\n${id} +1 +open +1 +1 +\\d+ `),
  );
  expect(readdirSync(folder).filter((name) => name.endsWith('.wal'))).toEqual(before);
});

test('an empty folder, and one that is not there', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const terminal = new Terminal();
  expect(await terminal.text('outbox', 'show', folder)).toBe('\nNothing waits in this outbox.\n');
  const { code, err } = await terminal.run('outbox', 'show', path.join(folder, 'none'));
  expect([code, err]).toEqual([7, expect.stringContaining('ENOENT')]);
  expect((await terminal.run('outbox', 'show')).code).toBe(2);
});
