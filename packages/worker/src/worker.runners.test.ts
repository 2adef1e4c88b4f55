import { describe, expect, it } from 'vitest';
import { inProcessRunner } from './execute/in-process.ts';
import type { Runner } from './execute/runner.ts';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';
import { observed } from './testing/observed-runner.ts';
import { Worker } from './worker.ts';

const run = () => 1;

/** A worker with 2 slots in process and 1 of the runner 'other', and a task of each whose runs wait for the test. */
function twoRunners() {
  const parts = bench();
  const [here, there] = [gate<string>(), gate<string>()];
  const near = task('near.one', { run: () => here.opened });
  const far = task('far.one', { queue: 'far', runner: 'other', run: () => there.opened });
  const other = observed(inProcessRunner({ name: 'other', concurrency: 1 }));
  const worker = parts.work([near, far], { concurrency: 2, prefetch: 0, runners: [other] });
  return { ...parts, near, far, here, there, other, worker };
}

describe('two runners', () => {
  it('have slots of their own: one that is full does not stop the other', async () => {
    const { add, happened, waybill, near, far, here, there, other, worker } = twoRunners();
    const fars = [await add(far), await add(far), await add(far)];
    await happened(fars[0]!.id, 'job.started');
    const nears = [await add(near), await add(near), await add(near)];
    await happened(nears[1]!.id, 'job.started');
    expect([worker.running, worker.waiting, other.underWay]).toEqual([3, 0, 1]);
    // What no slot is free for was not claimed, so that another worker can run it.
    for (const { id } of [fars[1]!, fars[2]!, nears[2]!]) {
      expect((await waybill.jobs.get(id)).state).toBe('available');
    }
    here.open('near');
    for (const { id } of nears) expect((await happened(id, 'job.completed')).result).toBe('near');
    there.open('far');
    for (const { id } of fars) expect((await happened(id, 'job.completed')).result).toBe('far');
    expect(other.most).toBe(1);
  });

  it('are both drained by a stop, and each is stopped once', async () => {
    const { add, happened, near, far, here, there, other, worker } = twoRunners();
    const jobs = [await add(near), await add(far)];
    for (const { id } of jobs) await happened(id, 'job.started');
    const drained = worker.drain();
    here.open('near');
    await happened(jobs[0]!.id, 'job.completed');
    expect([worker.running, other.stops]).toEqual([1, 0]);
    there.open('far');
    await drained;
    await happened(jobs[1]!.id, 'job.completed');
    expect(other.stops).toBe(1);
  });

  it('share one heartbeat for all leases', async () => {
    const { add, happened, near, far, here, there, clock } = twoRunners();
    const jobs = [await add(near), await add(far)];
    for (const { id } of jobs) await happened(id, 'job.started');
    await clock.advance(120_000);
    here.open('near');
    there.open('far');
    for (const { id } of jobs) expect((await happened(id, 'job.completed')).run).toBe(1);
  });

  it('a job in the queue of another runner than its own is put off, and a warning says why', async () => {
    const { add, happened, far, logs } = twoRunners();
    const job = await add(far, undefined, { queue: 'default' });
    expect(await happened(job.id, 'job.snoozed')).toMatchObject({ attempt: 0 });
    const [warning, ...others] = logs.warnings();
    expect(warning).toContain(
      "Worker worker-1 runs task 'far.one' with the runner 'other', and claims queue 'default' for 'in-process'. Enqueue the job in another queue.",
    );
    expect(others).toEqual([]);
  });

  it('divide the queues that the worker was given; one without tasks goes to the first that has tasks', async () => {
    const parts = bench();
    const far = task('far.one', { queue: 'far', runner: 'other', run });
    const claims: (readonly string[])[] = [];
    const claim: typeof parts.jobs.claim = (call) => {
      claims.push(call.queues);
      return parts.jobs.claim(call);
    };
    const jobs = { ...parts.jobs, claim };
    const runners = () => [inProcessRunner({ name: 'other', concurrency: 1 })];
    parts.work([task('near.one', { run }), far], { jobs, runners: runners(), queues: ['odd', 'far', 'default'] });
    expect(claims).toEqual([['odd', 'default'], ['far']]);
    claims.length = 0;
    parts.work([far], { jobs, runners: runners(), queues: ['odd', 'far'] });
    expect(claims).toEqual([['odd', 'far']]);
    claims.length = 0;
    parts.work([task('near.one', { run }), far], { jobs, runners: runners(), queues: ['default'] });
    expect(claims).toEqual([['default']]);
  });
});

describe('refused are', () => {
  const other = inProcessRunner({ name: 'other', concurrency: 1 });
  const make = (tasks: ConstructorParameters<typeof Worker>[0]['tasks'], runners: Runner[] = [], queues?: string[]) =>
    new Worker({ jobs: bench().jobs, tasks, runners, ...(queues && { queues }) });

  it('two runners on one queue, unless the worker leaves this queue out', () => {
    const tasks = [task('a.a', { run }), task('b.b', { runner: 'other', run }), task('c.c', { queue: 'c', run })];
    expect(() => make(tasks, [other])).toThrow(
      "Queue 'default' has tasks of two runners: 'a.a' (in-process) and 'b.b' (other). Give one of them a queue of its own.",
    );
    make(tasks, [other], ['c']);
  });

  it('a task whose runner the worker does not have', () => {
    expect(() => make([task('a.a', { runner: 'child', run })], [other])).toThrow(
      "Task 'a.a' has the runner 'child', and this worker has: 'in-process', 'other'. Add it to the option 'runners'.",
    );
  });

  it.each([
    [[{ ...other, name: 'in-process' }], "has a runner 'in-process', which every worker has already"],
    [[other, other], "has two runners 'other'"],
    [[{ ...other, name: '' }], 'has a runner without a name'],
    [[{ ...other, concurrency: 0 }], "has 'other' with concurrency 0. Use an integer from 1 to 1000."],
    [[{ ...other, abortGraceMs: -1 }], "has 'other' with abortGraceMs -1"],
  ])('runners %# that cannot be told apart or have no slots', (runners, message) => {
    expect(() => make([task('a.a', { run })], runners)).toThrow(`The option 'runners' ${message}`);
  });
});

describe('a runner that breaks its contract', () => {
  const broken: Runner = {
    name: 'broken',
    concurrency: 1,
    abortGraceMs: 3_000,
    run: ({ input }) => (input === 'quick' ? 'done' : new Promise(() => {})),
    stop: () => new Promise(() => {}),
  };

  it('keeps a slot no longer than it promised, and the log names it', async () => {
    const { work, add, happened, clock, logs } = bench();
    const stuck = task('stuck.one', { runner: 'broken', timeout: 1_000, retry: { max_attempts: 1 }, run });
    const worker = work([stuck], { runners: [broken] });
    const job = await add(stuck);
    await happened(job.id, 'job.started');
    const next = await add(stuck, 'quick');
    // A tenth of its timeout early, so that what it says at last comes before the server ends the run.
    await clock.advance(900);
    await clock.advance(2_999);
    expect(worker.running).toBe(1);
    await clock.advance(1);
    expect((await happened(next.id, 'job.completed')).result).toBe('done');
    expect((await happened(job.id, 'job.discarded')).errors).toMatchObject([{ code: 'timeout' }]);
    await clock.advance(1_000);
    expect(logs.warnings()).toContain(
      "Task 'stuck.one' goes on although its run is over: runner 'broken' did not end it within the 3000 ms of its abortGraceMs.",
    );
  });

  it('does not keep the worker from stopping', async () => {
    const { work, add, happened, clock, logs } = bench();
    const stuck = task('stuck.one', { runner: 'broken', run });
    const worker = work([stuck], { runners: [broken] });
    const job = await add(stuck);
    await happened(job.id, 'job.started');
    const stopped = worker.stop({ graceMs: 0 });
    await clock.advance(3_000);
    expect(await happened(job.id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0 });
    await clock.advance(5_000);
    await stopped;
    expect(logs.warnings()).toContain("Runner 'broken' did not stop.");
  });

  it('by throwing instead of rejecting fails its runs', async () => {
    const { work, add, firstOutcome } = bench();
    const thrower: Runner = {
      ...broken,
      run: () => {
        throw new RangeError('bug');
      },
      stop: () => {
        throw new RangeError('another bug');
      },
    };
    const one = task('one.one', { runner: 'broken', run });
    const worker = work([one], { runners: [thrower] });
    await add(one);
    expect(await firstOutcome).toMatchObject({ kind: 'failed', error: { type: 'RangeError', message: 'bug' } });
    await worker.stop();
  });
});
