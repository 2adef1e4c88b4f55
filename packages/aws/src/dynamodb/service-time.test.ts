import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { engine } from '@waybill/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answered } from '../testing/faulty-proxy.ts';
import { signingFront } from '../testing/signing-front.ts';
import { dynamoStore } from './store.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';

const PROCESS = fileURLToPath(new URL('./testing/skewed-process.ts', import.meta.url));
/** Tells a hang from an answer. */
const HANGS_MS = 30_000;
/** A date is good to a second, of which the middle is taken; the rest is for a machine under load. */
const APART_MS = 1_500;
const DAY_MS = 86_400_000;

interface Told {
  looks?: number;
  offMs?: number;
  jobId?: string;
  set?: number;
}

describe.skipIf(!canRun)('the time of DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** What a process with such a clock tells, from line to line. */
  function startSkewed(table: string, queue: string, skewMs: number, endpoint = local.endpoint()) {
    const env = { ...process.env, AWS_ACCESS_KEY_ID: local.accessKey(), AWS_SECRET_ACCESS_KEY: 'local' };
    const child = spawn(process.execPath, [PROCESS, endpoint, table, queue, String(skewMs)], {
      ...{ env, stdio: ['pipe', 'pipe', 'inherit'] },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const until = async (isIt: (told: Told) => boolean): Promise<Told> => {
      for (;;) {
        const { value, done } = await answered(lines.next(), HANGS_MS);
        if (done) throw new Error('The process has ended.');
        const told = JSON.parse(value) as Told;
        if (told.offMs !== undefined) expect(Math.abs(told.offMs)).toBeLessThan(APART_MS);
        if (isIt(told)) return told;
      }
    };
    const end = async () => {
      const exited = once(child, 'exit');
      child.stdin!.end();
      return answered(exited, HANGS_MS);
    };
    return { until, set: (offMs: number) => child.stdin!.write(`${offMs}\n`), end };
  }

  // fault: the clock of a server is 45 s or a day off, and is then set to as much on the other side
  test.each([45_000, -45_000, DAY_MS, -DAY_MS])(
    'B6, guarantee 2: a server whose clock is %i ms off, and jumps, runs no job twice and starves none',
    async (skewMs) => {
      const table = local.newTable();
      const store = await dynamoStore({ table, client: local.client() });
      const waybill = engine({ store, maintenance: false });
      onTestFinished(() => waybill.close());
      const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
      const [lease] = await waybill.jobs.claim({ queues: ['default'], workerId: 'w', leaseMs: 30_000 });
      expect(lease).toMatchObject({ job: { id: job.id, run: 1 } });

      const skewed = startSkewed(table, 'later', skewMs);
      const { jobId } = await skewed.until((told) => told.jobId !== undefined);
      await skewed.until(({ looks = 0 }) => looks >= 2);
      const claimed = await waybill.jobs.claim({ queues: ['later'], workerId: 'w', waitMs: 20_000 });
      expect(claimed, 'what it has enqueued comes in its time').toMatchObject([{ job: { id: jobId, run: 1 } }]);

      skewed.set(-skewMs);
      const { looks: before = 0 } = await skewed.until(({ set }) => set === -skewMs);
      await skewed.until(({ looks = 0 }) => looks >= before + 2);
      const held = await store.get([job, claimed[0]!.job]);
      expect(held, 'no lease was taken for one that has run out').toMatchObject([
        { state: 'active', run: 1 },
        { state: 'active', run: 1 },
      ]);
      for (const { job, token: leaseToken } of [lease!, ...claimed]) {
        await waybill.jobs.settle({ id: job.id, leaseToken, outcome: { kind: 'completed', result: null } });
      }
      expect(await skewed.end()).toEqual([0, null]);
    },
  );

  // fault: the clock of a machine is a day off, and AWS refuses what is signed by it
  test.each([DAY_MS, -DAY_MS])('B6: a request refused for a clock %i ms off is signed anew', async (skewMs) => {
    const table = local.newTable();
    const made = await dynamoStore({ table, client: local.client() });
    onTestFinished(() => made.close());
    const front = await signingFront(local.endpoint());
    onTestFinished(front.close);
    const skewed = startSkewed(table, 'default', skewMs, front.endpoint);
    await skewed.until(({ looks = 0 }) => looks >= 1);
    expect(front.refused).toBe(1);
    expect(await skewed.end()).toEqual([0, null]);
  });
});
