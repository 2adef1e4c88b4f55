import { engine, type HeartbeatCall, type Jobs, silentLogger, systemClock, WaybillError } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inProcessRunner } from './execute/in-process.ts';
import type { Runner } from './execute/runner.ts';
import type { WorkerOptions } from './options.ts';
import { task } from './task.ts';
import { bench, gate, LogBook } from './testing/bench.ts';
import { Worker } from './worker.ts';

/** A task whose runs last until the test lets them go, or until they are aborted. */
function heldTask(name = 'held.one') {
  const release = gate<string>();
  const aborted = gate<unknown>();
  const held = task(name, {
    run: (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.open(signal.reason));
      return release.opened;
    },
  });
  return { held, release, aborted };
}

describe('leases', () => {
  it('are kept alive, all of them in one call, however long the handlers take', async () => {
    const { jobs, work, add, happened, clock, waybill } = bench();
    const { held, release } = heldTask();
    const beats: HeartbeatCall[] = [];
    const heartbeat = (call: HeartbeatCall) => {
      beats.push(call);
      return jobs.heartbeat(call);
    };
    work([held], { jobs: { ...jobs, heartbeat }, concurrency: 2, prefetch: 1 });
    const added = [await add(held), await add(held), await add(held)];
    for (const { id } of added) await happened(id, 'job.started');
    for (let minute = 0; minute < 5; minute += 1) await clock.advance(60_000);
    release.open('fine');
    for (const { id } of added) expect((await happened(id, 'job.completed')).run).toBe(1);
    expect(beats.length).toBeLessThanOrEqual(17);
    expect(beats.filter(({ jobs: named }) => named.length === 3).length).toBeGreaterThanOrEqual(14);
    expect(await waybill.workers.list()).toMatchObject([{ id: 'worker-1' }]);
  });

  it('shorter than the heartbeat, as a job may ask for, are kept alive as well', async () => {
    const { work, waybill, happened, clock } = bench();
    const { held, release } = heldTask();
    work([held]);
    const options = { visibility_timeout_ms: 3_000 };
    const { job } = await waybill.jobs.enqueue({ type: 'held.one', args: [], options });
    await happened(job.id, 'job.started');
    await clock.advance(60_000);
    release.open('fine');
    expect((await happened(job.id, 'job.completed')).run).toBe(1);
  });

  it('of a cancelled job are lost: the handler is aborted with a reason, and nothing is settled', async () => {
    const { work, add, happened, clock, waybill, settled, logs } = bench();
    const { held, aborted } = heldTask();
    const worker = work([held], { concurrency: 1 });
    const job = await add(held);
    await happened(job.id, 'job.started');
    await waybill.jobs.cancel(job.id);
    await clock.advance(20_000);
    expect(await aborted.opened).toMatchObject({
      code: 'lease_lost',
      message: `Job ${job.id} was cancelled, timed out or given to another worker.`,
    });
    expect(settled).toEqual([]);
    expect(worker.running).toBe(0);
    expect(logs.warnings()[0]).toBe("Task 'held.one' lost the lease of its job.");
    expect((await waybill.jobs.get(job.id)).state).toBe('cancelled');
  });

  it('lost while the job waits here mean that it is never started', async () => {
    const { work, add, happened, clock, waybill } = bench();
    const { held, release } = heldTask();
    const worker = work([held], { concurrency: 1, prefetch: 1 });
    const [first, second] = [await add(held), await add(held)];
    await happened(second.id, 'job.started');
    expect([worker.running, worker.waiting]).toEqual([1, 1]);
    await waybill.jobs.cancel(second.id);
    await clock.advance(20_000);
    expect([worker.running, worker.waiting]).toEqual([1, 0]);
    release.open('fine');
    await happened(first.id, 'job.completed');
    expect((await waybill.jobs.get(second.id)).state).toBe('cancelled');
  });

  it('that ran out unnoticed: the job comes back to the same worker, and the older run is aborted', async () => {
    const { jobs, work, add, happened, clock, logs } = bench();
    const { held, release, aborted } = heldTask();
    const heartbeat = () => Promise.reject(new Error('away'));
    work([held], { jobs: { ...jobs, heartbeat } });
    const job = await add(held);
    await happened(job.id, 'job.started');
    await clock.advance(31_000);
    await happened(job.id, 'job.started', 2);
    expect(await aborted.opened).toMatchObject({ code: 'lease_lost' });
    release.open('second');
    expect(await happened(job.id, 'job.completed')).toMatchObject({ run: 2, result: 'second' });
    expect(logs.warnings()).toContain('A heartbeat failed; trying again.');
  });

  it('do not depend on the wall clock of the worker', async () => {
    const { work, add, happened, clock } = bench();
    for (const jump of [3_600_000, -7_200_000]) {
      const { held, release } = heldTask(`held.${jump > 0 ? 'forth' : 'back'}`);
      const worker = work([held], { id: held.name });
      const job = await add(held);
      await happened(job.id, 'job.started');
      clock.jump(jump);
      for (let step = 0; step < 12; step += 1) await clock.advance(10_000);
      release.open('fine');
      expect(await happened(job.id, 'job.completed')).toMatchObject({ run: 1, result: 'fine' });
      await worker.stop();
    }
  });

  it('pass while a handler blocks the event loop: at most one result is kept, and a warning names the task', async () => {
    const store = memoryStore({ clock: systemClock });
    const waybill = engine({ store, logger: silentLogger });
    onTestFinished(() => waybill.close());
    const logs = new LogBook();
    const blocking = task('blocking.one', {
      run: async (_, { job }) => {
        await null;
        if (job.run === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
        return 'done';
      },
    });
    const worker = new Worker({ jobs: waybill.jobs, tasks: [blocking], leaseMs: 60, heartbeatMs: 40, logger: logs });
    worker.start();
    const { job } = await waybill.jobs.enqueue({ type: 'blocking.one', args: [] });
    const line = await logs.said("Task 'blocking.one' ended");
    expect(line.message).toContain('block the event loop');
    const stop = new AbortController();
    const filter = { jobIds: [job.id], types: ['job.completed' as const] };
    for await (const _ of waybill.events.follow({ filter, signal: stop.signal })) break;
    await worker.stop();
    expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'completed', result: 'done' });
    const { events } = await waybill.events.read({ filter, limit: 10 });
    expect(events).toHaveLength(1);
  });

  describe('of a runner that ends with its lease', () => {
    /** The same as in this process, but for that promise. */
    const strict = (): Runner => ({ ...inProcessRunner({ name: 'strict', concurrency: 2 }), endsWithLease: true });

    function held(heartbeat: Jobs['heartbeat'], options: Partial<WorkerOptions> = {}) {
      const parts = bench();
      const { release, aborted } = heldTask();
      const strictly = task('strict.one', {
        runner: 'strict',
        run: (_, { signal }) => {
          signal.addEventListener('abort', () => aborted.open(signal.reason));
          return release.opened;
        },
      });
      const jobs = { ...parts.jobs, heartbeat };
      parts.work([strictly], { jobs, runners: [strict()], ...options });
      return { ...parts, strictly, aborted, release };
    }

    // fault: no heartbeat is ever answered, and the call itself hangs
    it('are lost at their end, although the call hangs', async () => {
      const { add, strictly, aborted, happened, clock } = held(() => new Promise(() => {}));
      let reason: unknown;
      void aborted.opened.then((given) => {
        reason = given;
      });
      const { id } = await add(strictly);
      await happened(id, 'job.started');
      await clock.advance(29_000);
      expect(reason).toBeUndefined();
      await clock.advance(1_000);
      expect(reason).toMatchObject({ code: 'lease_lost' });
    });

    // fault: every heartbeat is refused, while the lease is long
    it('are lost when three heartbeats in a row have failed, however often each was tried', async () => {
      const heartbeat = () => Promise.reject(new WaybillError('unavailable', 'away'));
      const { add, strictly, aborted, happened, clock } = held(heartbeat, { leaseMs: 600_000 });
      let reason: unknown;
      void aborted.opened.then((given) => {
        reason = given;
      });
      const { id } = await add(strictly);
      await happened(id, 'job.started');
      await clock.advance(39_000);
      expect(reason).toBeUndefined();
      await clock.advance(30_000);
      expect(reason).toMatchObject({ code: 'lease_lost' });
    });

    it('are not lost in an outage that is shorter, or in this process', async () => {
      let isAway = true;
      const parts = bench();
      const heartbeat: Jobs['heartbeat'] = (call) =>
        isAway ? Promise.reject(new WaybillError('unavailable', 'away')) : parts.jobs.heartbeat(call);
      const { held: plain, release } = heldTask();
      parts.work([plain], { jobs: { ...parts.jobs, heartbeat }, leaseMs: 600_000 });
      const { id } = await parts.add(plain);
      await parts.happened(id, 'job.started');
      await parts.clock.advance(100_000);
      isAway = false;
      await parts.clock.advance(30_000);
      release.open('kept');
      expect((await parts.happened(id, 'job.completed')).run).toBe(1);
    });
  });
});
