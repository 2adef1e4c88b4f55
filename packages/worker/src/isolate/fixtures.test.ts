import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { engine, type Job, type Jobs, silentLogger } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requestFor } from '../request.ts';
import { task } from '../task.ts';
import { LogBook } from '../testing/bench.ts';
import { Worker } from '../worker.ts';
import { listPids, readStat } from './process/proc-files.ts';
import { lack } from './testing/contain.ts';
import { type Fixture, fixtures } from './testing/fixtures.ts';

const HEARTBEAT_MS = 1_000;
const LATE_MS = 1_000;
const VARIABLE = 'WAYBILL_FIXTURE';

/** Processes that have this variable in their environment and have not ended. */
function living(value: string): number[] {
  return listPids()!.filter((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${VARIABLE}=${value}`)) return false;
    } catch {
      return false;
    }
    return readStat(pid)?.zombie === false;
  });
}

/** When the worker asked for its leases to be extended. */
function noting(jobs: Jobs, beats: number[]): Jobs {
  return {
    ...jobs,
    heartbeat: (call) => {
      beats.push(performance.now());
      return jobs.heartbeat(call);
    },
  };
}

const outcomeOf = ({ state, result, errors: [error] }: Job): object =>
  state === 'completed' ? { state, result } : { state, error: { code: error?.code, details: error?.details ?? {} } };

const expected = ({ error, result }: Fixture): object =>
  error === undefined
    ? { state: 'completed', result }
    : { state: 'discarded', error: { code: error.code, details: error.details ?? {} } };

describe.skipIf(lack)(`a worker beside programs that misbehave (skipped: ${lack})`, () => {
  // fault: everything that a program can do wrong, all at once, beside a plain handler
  test('each comes to its outcome, its heartbeats are on time, and no process is left', async () => {
    const mark = randomUUID();
    const all = fixtures({ [VARIABLE]: mark });
    const waybill = engine({ store: memoryStore(), logger: silentLogger });
    onTestFinished(() => waybill.close());
    const beats: number[] = [];
    const logs = new LogBook();
    const plain = task('fixture.plain', { queue: 'plain', run: (n: unknown) => n });
    const worker = new Worker({
      ...{ jobs: noting(waybill.jobs, beats), events: waybill.events, logger: logs },
      ...{ tasks: [...new Set(all.map((one) => one.task)), plain], heartbeatMs: HEARTBEAT_MS },
      isolated: { concurrency: all.length, abortMs: 200, killAfterMs: 500 },
    });
    onTestFinished(() => worker.stop({ graceMs: 0 }));
    const add = async (of: Fixture['task'], input?: unknown) =>
      (await waybill.jobs.enqueue(await requestFor(of, input))).job.id;
    const ids = await Promise.all(all.map((one) => add(one.task, one.input)));
    worker.start();

    const ends = ids.map((id) => ended(id));
    await Promise.race(ends);
    expect(living(mark).length, 'processes of the other runs').toBeGreaterThan(0);
    await Promise.all(ends);
    const jobs = await Promise.all(ids.map((id) => waybill.jobs.get(id)));
    const told = Object.fromEntries(all.map(({ about }, index) => [about, outcomeOf(jobs[index]!)]));
    expect(told).toMatchObject(Object.fromEntries(all.map((one) => [one.about, expected(one)])));

    // The worker is alive: it goes on with other jobs.
    const after = await add(plain, 1);
    await ended(after);
    expect((await waybill.jobs.get(after)).result).toBe(1);
    await worker.stop();
    expect(living(mark)).toEqual([]);
    const gaps = beats.slice(1).map((at, index) => at - beats[index]!);
    expect(gaps.length).toBeGreaterThan(2);
    expect(Math.max(...gaps)).toBeLessThan(HEARTBEAT_MS + LATE_MS);
    expect(logs.warnings().filter((line) => /heartbeat|lease/.test(line))).toEqual([]);

    async function ended(id: string): Promise<void> {
      const over = new AbortController();
      const types = ['job.completed', 'job.discarded'] as const;
      for await (const _ of waybill.events.follow({ filter: { jobIds: [id], types }, signal: over.signal })) break;
      over.abort();
    }
  });
});
