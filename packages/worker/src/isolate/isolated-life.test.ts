import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { task } from '../task.ts';
import { bench } from '../testing/bench.ts';
import { endless, place } from './testing/tasks-module.ts';

const FAST = { isolated: { abortMs: 100, killAfterMs: 300 } };
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

/** A command that tells its process id, starts another process and waits, deaf to SIGTERM. */
const deaf = task('life.deaf', {
  isolate: { command: ['/bin/sh', '-c', 'trap "" TERM; sleep 300 & echo "$$ $!"; wait; wait'] },
  retry: { max_attempts: 2, initial_interval: 'PT1S', jitter: false },
});

describe('an isolated run', () => {
  /** The ids of its processes, once they have begun. */
  async function begun({ logs }: ReturnType<typeof bench>): Promise<number[]> {
    const { message } = await logs.said('[life.deaf:');
    const pids = message.split('] ')[1]!.split(' ').map(Number);
    expect(pids.every(isAlive)).toBe(true);
    return pids;
  }

  it('whose job is cancelled leaves no process, although it ignores SIGTERM', async () => {
    const parts = bench();
    const worker = parts.work([deaf], { ...FAST, events: parts.waybill.events });
    const { id } = await parts.add(deaf);
    const pids = await begun(parts);
    await parts.waybill.jobs.cancel(id);
    await parts.clock.advance(20_000);
    await worker.stop({ graceMs: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
    expect((await parts.waybill.jobs.get(id)).state).toBe('cancelled');
  });

  it('is handed back by a worker that stops, and leaves no process', async () => {
    const parts = bench();
    const worker = parts.work([deaf], FAST);
    const { id } = await parts.add(deaf);
    const pids = await begun(parts);
    await worker.stop({ graceMs: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await parts.waybill.jobs.get(id)).toMatchObject({ state: 'available', attempt: 0 });
  });

  // fault: a process that ignores SIGTERM would have ten minutes
  it('is killed within `stopMs` by a worker that stops, and handed back', async () => {
    const parts = bench();
    const worker = parts.work([deaf], { isolated: { killAfterMs: 600_000, stopMs: 400 } });
    const { id } = await parts.add(deaf);
    const pids = await begun(parts);
    await worker.stop({ graceMs: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await parts.waybill.jobs.get(id)).toMatchObject({ state: 'available', attempt: 0 });
  });

  it('that exceeds the timeout of its job keeps what it used and printed last, although the server ends it too', async () => {
    const parts = bench();
    parts.work([deaf], FAST);
    const { id } = await parts.add(deaf, undefined, { timeout: 60_000, retry: { max_attempts: 1 } });
    const pids = await begun(parts);
    // The run is aborted before; the row comes to its timeout only when its process is gone.
    await parts.clock.advance(59_900);
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 20_000, interval: 10 });
    const job = await parts.happened(id, 'job.discarded');
    const used = {
      outcome: 'timeout',
      peak_memory_bytes: expect.any(Number),
      last_output: expect.stringContaining(`${pids[0]} `),
    };
    expect(job.errors).toMatchObject([{ code: 'timeout', details: used }]);
  });

  it('may be marked in the log by something else than its id', async () => {
    const { work, add, happened, logs } = bench();
    const echo = task('life.echo', { isolate: { command: ['echo', 'hello'] } });
    work([echo], { isolated: { label: ({ spec }) => `WORKFLOW:${spec.args[0]}` } });
    const { id } = await add(echo, 'request-1');
    await happened(id, 'job.completed');
    expect(await logs.said('[WORKFLOW:')).toMatchObject({ message: '[WORKFLOW:request-1] hello' });
  });

  it('tells with each extension of its lease that it is alive, and until when', async () => {
    const { work, add, happened, clock, waybill } = bench();
    const slow = task('life.slow', { isolate: { ...endless.isolate!, timeout: 600_000 } });
    work([{ ...endless, isolate: slow.isolate! }], FAST);
    const { id } = await add(endless);
    await happened(id, 'job.progress');
    const [one, two] = [
      await clock.advance(20_000).then(() => clock.now()),
      await clock.advance(20_000).then(() => clock.now()),
    ];
    // What is said is stored in batches, by the clock.
    await clock.advance(1_000);
    const { entries: beats } = await waybill.jobs.journal(id, { types: ['heartbeat'] });
    expect(beats.map(({ data }) => data)).toMatchObject([
      {
        number: 1,
        effective_until: one + 30_000,
        last_activity: { type: 'progress' },
        ...{ elapsed_ms: expect.any(Number), memory_bytes: expect.any(Number), cpu_ms: expect.any(Number) },
      },
      { number: 2, effective_until: two + 30_000 },
    ]);
    await waybill.jobs.cancel(id);
  });

  it('may use a process that was started ahead of it, once', async () => {
    const { work, add, happened, logs } = bench();
    const warm = { ...place, isolate: { ...place.isolate!, warm: 1 } };
    const worker = work([warm], FAST);
    const pids = new Set<number>();
    for (let index = 0; index < 3; index += 1) {
      const { id } = await add(warm);
      const { env, pid } = (await happened(id, 'job.completed')).result as { env: Record<string, string>; pid: number };
      expect(env['WAYBILL_JOB_ID']).toBe(id);
      pids.add(pid);
    }
    expect(pids.size).toBe(3);
    await worker.stop();
    expect(logs.warnings()).toEqual([]);
  });

  it('fails of itself where its module cannot be loaded ahead, and says so once', async () => {
    const { work, add, happened, logs } = bench();
    const module = new URL('./no-such-module.ts', import.meta.url);
    const none = task('life.none', { isolate: { module, warm: 2 }, retry: { max_attempts: 1 } });
    work([none], FAST);
    for (let index = 0; index < 2; index += 1) {
      const { id } = await add(none);
      expect((await happened(id, 'job.discarded')).errors).toMatchObject([
        { message: expect.stringContaining('Cannot find') },
      ]);
    }
    expect(logs.warnings().filter((line) => line.includes('warm process')).length).toBeLessThanOrEqual(1);
  });
});
