import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { engine, silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempSchema, tempStore } from './testing/server.ts';

const SERVER = fileURLToPath(new URL('./testing/skewed-server.ts', import.meta.url));
const DAY_MS = 86_400_000;
const JOBS = 20;
/** What a busy machine may take to measure the time of a server. */
const APART_MS = 5_000;

interface Told {
  enqueued?: string[];
  offMs?: number;
  ran?: string;
}

// fault: the clocks of two servers are a day off, one ahead and one behind
test('guarantees 1, 2: of servers whose clocks are two days apart, no job is lost or runs twice', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const store = await tempStore(postgresStore, { url, schema });
  const waybill = engine({ store, logger: silentLogger, maintenance: false });
  const { job: held } = await waybill.jobs.enqueue({ type: 'test.job', args: [], options: { queue: 'held' } });
  const [lease] = await waybill.jobs.claim({ queues: ['held'], leaseMs: 600_000 });

  const enqueued: string[] = [];
  const ran: string[] = [];
  const all = Promise.withResolvers<void>();
  const servers = [DAY_MS, -DAY_MS].map((skewMs) => {
    const args = [SERVER, url, schema, String(skewMs), String(JOBS)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const told = JSON.parse(line) as Told;
      if (told.offMs !== undefined) expect.soft(Math.abs(told.offMs)).toBeLessThan(APART_MS);
      enqueued.push(...(told.enqueued ?? []));
      if (told.ran !== undefined) ran.push(told.ran);
      if (new Set(ran).size === 2 * JOBS) all.resolve();
    });
    const exited = once(child, 'exit');
    void exited.then(([code]) => all.reject(new Error(`A server ended with ${code}.`)));
    return { child, exited };
  });
  await all.promise;
  for (const { child } of servers) child.stdin.end();
  for (const { exited } of servers) expect(await exited).toEqual([0, null]);

  expect(ran.toSorted()).toEqual(enqueued.toSorted());
  const rows = await store.get(enqueued.map((id) => ({ tenant: '', id })));
  expect(rows.map((row) => [row?.state, row?.run])).toEqual(rows.map(() => ['completed', 1]));
  expect(await waybill.jobs.get(held.id), 'no lease was taken for one that has run out').toMatchObject({
    ...{ state: 'active', run: 1 },
  });
  const outcome = { kind: 'completed', result: null } as const;
  await waybill.jobs.settle({ id: held.id, leaseToken: lease!.token, outcome });
});
