import { isDeepStrictEqual } from 'node:util';
import type { Job } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import type { Runner } from '../execute/runner.ts';
import type { AnyTask } from '../task.ts';
import type { TaskPolicy } from '../task-policy.ts';
import type { Worker } from '../worker.ts';
import type { Behaviour } from './behave.ts';
import { type Bench, bench } from './bench.ts';
import { type ObservedRunner, observed } from './observed-runner.ts';

export interface RunnerUnderTest {
  runner: Runner;
  /** A task of this runner with this policy, whose runs do what `behave` does. */
  task(policy: TaskPolicy): AnyTask;
}

export type RunnerFactory = (options: { concurrency: number }) => RunnerUnderTest | Promise<RunnerUnderTest>;

interface Setting extends Bench {
  runner: ObservedRunner;
  worker: Worker;
  /** Enqueues a job whose run does this. */
  does(behaviour: Behaviour): Promise<Job>;
  /** The same, and waits until its handler has begun. */
  begun(does: 'ignore-abort' | 'reject-at-abort' | 'return-at-abort'): Promise<Job>;
}

const ONCE = { retry: { max_attempts: 1 } };

/**
 * The contract of a Runner, tested through a worker. The factory makes a new runner for every test; its name must not be
 * 'in-process'. The worker's clock stands still until a test moves it; a runner that works in real time is waited for.
 */
export function testRunner(name: string, factory: RunnerFactory): void {
  async function open({ concurrency = 1, ...policy }: TaskPolicy & { concurrency?: number } = {}): Promise<Setting> {
    const given = await factory({ concurrency });
    const runner = observed(given.runner);
    const task = given.task(policy);
    const parts = bench();
    const worker = parts.work([task], { runners: [runner] });
    const does = (behaviour: Behaviour) => parts.add(task, behaviour);
    const begun: Setting['begun'] = async (what) => {
      const job = await does({ does: what });
      await parts.happened(job.id, 'job.progress');
      return job;
    };
    return { ...parts, runner, worker, does, begun };
  }

  describe(`${name} keeps the runner contract`, () => {
    it('has a name, and as many slots as it was made with', async () => {
      const { runner } = await factory({ concurrency: 3 });
      expect(runner.name).not.toBe('');
      expect(runner.concurrency).toBe(3);
      await runner.stop();
    });

    it('completes a run with what the handler returned', async () => {
      const { does, firstOutcome } = await open();
      await does({ does: 'return', value: { list: [1, 'two', null] } });
      expect(await firstOutcome).toEqual({ kind: 'completed', result: { list: [1, 'two', null] } });
    });

    it('tells the handler which job and which attempt it runs', async () => {
      const { does, firstOutcome } = await open();
      const { id } = await does({ does: 'tell-facts' });
      const facts = { job: id, attempt: 1, lastCheckpoint: null };
      expect(await firstOutcome).toEqual({ kind: 'completed', result: facts });
    });

    it('fails a run with the message and the code of what the handler threw', async () => {
      const { does, firstOutcome } = await open(ONCE);
      await does({ does: 'throw', message: 'refused', code: 'ECONNREFUSED' });
      expect(await firstOutcome).toMatchObject({ kind: 'failed', error: { message: 'refused', code: 'ECONNREFUSED' } });
    });

    it('fails a run whose handler threw something other than an Error', async () => {
      const { does, firstOutcome } = await open(ONCE);
      await does({ does: 'throw-text', text: 'no luck' });
      const error = { type: 'non_error', message: expect.stringContaining('no luck') };
      expect(await firstOutcome).toMatchObject({ kind: 'failed', error });
    });

    it('fails a run whose result is not JSON, without a retry', async () => {
      const { does, firstOutcome } = await open();
      await does({ does: 'return-foreign' });
      const message = expect.stringContaining("'rate' is NaN");
      expect(await firstOutcome).toMatchObject({
        kind: 'failed',
        error: { code: 'invalid_result', retryable: false, message },
      });
    });

    it('settles a run as its handler asks by snooze, discard or cancel', async () => {
      const { does, happened, settled, clock } = await open();
      await happened((await does({ does: 'snooze', ms: 60_000 })).id, 'job.snoozed');
      await happened((await does({ does: 'discard', reason: 'no such user' })).id, 'job.discarded');
      await happened((await does({ does: 'cancel', reason: 'not wanted' })).id, 'job.cancelled');
      expect(settled).toMatchObject([
        { kind: 'snoozed', until: clock.now() + 60_000 },
        { kind: 'discarded', error: { message: 'no such user' } },
        { kind: 'cancelled', reason: 'not wanted' },
      ]);
    });

    it('passes progress on, and a checkpoint to the next run', async () => {
      const retry = { max_attempts: 2, initial_interval: 'PT0.001S', jitter: false };
      const { does, happened, waybill, clock } = await open({ retry });
      const { id } = await does({ does: 'report', fraction: 0.25, checkpoint: { row: 41 } });
      await happened(id, 'job.retrying');
      await clock.advance(1);
      expect((await happened(id, 'job.completed')).result).toEqual({ row: 41 });
      const { events } = await waybill.events.read({ filter: { jobIds: [id], types: ['job.progress'] }, limit: 10 });
      expect(events[0]!.data).toMatchObject({ progress_percent: 25, progress_message: 'reported' });
    });

    it('passes on what the handler says, in order, before the run is settled', async () => {
      const { does, happened, waybill } = await open();
      const { id } = await does({ does: 'speak', line: 'hello' });
      await happened(id, 'job.completed');
      const { entries } = await waybill.jobs.journal(id);
      expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
      // A runner may say something itself about the process that it has started.
      const own = entries.filter(
        ({ type, data }) => !type.startsWith('process.') || isDeepStrictEqual(data, { exit_code: 0 }),
      );
      expect(own).toMatchObject([
        { type: 'output', stream: 'stderr', output: new TextEncoder().encode('hello') },
        { type: 'process.ended', data: { exit_code: 0 } },
        { type: 'log', data: { message: 'spoken', level: 'warn', fields: { line: 'hello' } } },
      ]);
    });

    it('ends a run that has timed out, when its handler heeds the signal', async () => {
      const { begun, happened, runner, clock } = await open({ ...ONCE, timeout: 1_000 });
      const { id } = await begun('reject-at-abort');
      await clock.advance(1_000);
      await runner.allEnded();
      expect((await happened(id, 'job.discarded')).errors).toMatchObject([{ code: 'timeout' }]);
    });

    it('frees the slot of a run that has timed out, although its handler ignores the signal', async () => {
      const { begun, does, happened, runner, clock } = await open({ ...ONCE, timeout: 1_000 });
      const { id } = await begun('ignore-abort');
      await clock.advance(1_000);
      await clock.advance(runner.abortGraceMs!);
      expect((await happened(id, 'job.discarded')).errors).toMatchObject([{ code: 'timeout' }]);
      const next = await does({ does: 'return', value: 'next' });
      expect((await happened(next.id, 'job.completed')).result).toBe('next');
    });

    it('ends a run whose job was cancelled, and settles nothing', async () => {
      const { begun, runner, clock, waybill, settled } = await open();
      const { id } = await begun('return-at-abort');
      await waybill.jobs.cancel(id);
      await clock.advance(20_000);
      await runner.allEnded();
      expect(settled).toEqual([]);
      expect((await waybill.jobs.get(id)).state).toBe('cancelled');
    });

    it('has as many runs under way as it has slots, and never more', async () => {
      const { begun, does, happened, runner, worker, waybill, clock } = await open({ concurrency: 2 });
      const [first] = [await begun('reject-at-abort'), await begun('reject-at-abort')];
      const third = await does({ does: 'reject-at-abort' });
      const fourth = await does({ does: 'return', value: 4 });
      expect([runner.underWay, worker.running]).toEqual([2, 2]);
      await waybill.jobs.cancel(first.id);
      await clock.advance(20_000);
      await happened(third.id, 'job.progress');
      expect([runner.underWay, worker.running]).toEqual([2, 2]);
      await waybill.jobs.cancel(third.id);
      await clock.advance(20_000);
      await happened(fourth.id, 'job.completed');
      expect(runner.most).toBe(2);
    });

    it('is stopped once, after its runs have ended, were completed or abandoned', async () => {
      const { begun, happened, runner, worker, clock } = await open({ concurrency: 3 });
      const early = await begun('return-at-abort');
      const obedient = await begun('reject-at-abort');
      const deaf = await begun('ignore-abort');
      const stopped = worker.stop({ graceMs: 0 });
      expect((await happened(early.id, 'job.completed')).result).toBe('ended early');
      expect(await happened(obedient.id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0 });
      await clock.advance(Math.max(1_000, runner.abortGraceMs!));
      expect(await happened(deaf.id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0 });
      await stopped;
      expect([runner.stops, worker.running]).toEqual([1, 0]);
    });
  });
}
