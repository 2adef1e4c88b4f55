import { type Question, WaybillError } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import type { Answer, TaskContext } from './context.ts';
import { type AnyTask, task } from './task.ts';
import { type Bench, bench } from './testing/bench.ts';

const DEPLOY = { text: 'Deploy?', choices: ['yes', 'no'] };
const ANSWERED = { status: 'answered', text: null, by: null } as const;

/** A bench whose worker tells when a job sleeps for its question: that is the second time that a run asks it. */
function asking(options: { ask?: Bench['jobs']['ask'] } = {}) {
  const parts = bench();
  const { ask = parts.jobs.ask } = options;
  const asked = new Set<string>();
  const sleepers: Question[] = [];
  let tell = () => {};
  const jobs: Bench['jobs'] = {
    ...parts.jobs,
    ask: async (call) => {
      const question = await ask(call);
      const run = `${call.leaseToken} ${call.key}`;
      if (asked.has(run)) sleepers.push(question);
      if (asked.has(run)) tell();
      asked.add(run);
      return question;
    },
  };
  /** The question that a job sleeps for, of the n-th one that does. */
  const asleep = async (times = 1): Promise<Question> => {
    while (sleepers.length < times)
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    return sleepers[times - 1]!;
  };
  return { ...parts, jobs, work: (tasks: AnyTask[]) => parts.work(tasks, { jobs }), asleep };
}

const deploying = (run: (input: unknown, context: TaskContext) => unknown): AnyTask => task('site.deploy', { run });

describe('a task that asks', () => {
  it('sleeps without a worker, and goes on with the answer in a new run of the same attempt', async () => {
    const parts = asking();
    const seen: [number, number, Answer][] = [];
    const one = deploying(async (_, { ask, job, attempt }) => {
      const answer = await ask(DEPLOY);
      seen.push([job.run, attempt, answer]);
      return answer;
    });
    parts.work([one]);
    const { id } = await parts.add(one);
    const question = await parts.asleep();
    expect(await parts.waybill.jobs.get(id)).toMatchObject({ state: 'retryable', attempt: 0 });
    await parts.waybill.questions.answer(question.id, { choice: 'yes' });
    const { result } = await parts.happened(id, 'job.completed');
    expect(result).toMatchObject({ ...ANSWERED, choice: 'yes' });
    expect(seen).toEqual([[2, 1, result]]);
    expect(parts.logs.warnings()).toEqual([]);
  });

  it('asks one question after the other, and each is told its own answer', async () => {
    const parts = asking();
    const one = deploying(async (_, { ask }) => {
      const [first, again] = await Promise.all([ask(DEPLOY), ask(DEPLOY)]);
      const named = await ask({ key: 'note', text: `At ${Math.random()}?` });
      return [first, again, named];
    });
    parts.work([one]);
    const { id } = await parts.add(one);
    const first = await parts.asleep(1);
    await parts.waybill.questions.answer(first.id, { choice: 'yes' });
    const again = await parts.asleep(2);
    expect(again.id).not.toBe(first.id);
    await parts.waybill.questions.answer(again.id, { choice: 'no' });
    const named = await parts.asleep(3);
    await parts.waybill.questions.answer(named.id, { text: 'noted' });
    const { result } = await parts.happened(id, 'job.completed');
    expect(result).toMatchObject([{ choice: 'yes' }, { choice: 'no' }, { text: 'noted' }]);
    expect((await parts.waybill.questions.list()).items).toHaveLength(3);
  });

  it('never takes an answer for that to another question', async () => {
    const parts = asking();
    let text = 'Delete a?';
    const one = deploying(async (_, { ask }) => (await ask({ text, choices: ['yes', 'no'] })).status);
    parts.work([one]);
    const { id } = await parts.add(one);
    const first = await parts.asleep(1);
    text = 'Delete b?';
    await parts.waybill.questions.answer(first.id, { choice: 'yes' });
    const second = await parts.asleep(2);
    expect(second.text).toBe('Delete b?');
    expect((await parts.waybill.jobs.get(id)).state).toBe('retryable');
  });

  it('is told when nobody has answered in time', async () => {
    const parts = asking();
    const one = deploying(async (_, { ask }) => ask({ ...DEPLOY, expiresInMs: 5_000 }));
    parts.work([one]);
    const { id } = await parts.add(one);
    const question = await parts.asleep();
    await parts.clock.advance(5_000);
    const { result } = await parts.happened(id, 'job.completed');
    expect(result).toEqual({ status: 'expired', at: question.expiresAt });
  });

  it('starts again soon where its sleep could not be confirmed, and asks the same question', async () => {
    let calls = 0;
    const parts = asking({
      ask: (call) => {
        calls += 1;
        if (calls === 2) return Promise.reject(new WaybillError('unavailable', 'away'));
        return parts.waybill.jobs.ask(call);
      },
    });
    const one = deploying(async (_, context) => (await context.ask(DEPLOY)).status);
    parts.work([one]);
    const { id } = await parts.add(one);
    await parts.logs.said('starts again soon');
    await parts.clock.advance(10_000);
    const question = await parts.asleep();
    expect(calls).toBe(4);
    await parts.waybill.questions.answer(question.id, { choice: 'yes' });
    expect((await parts.happened(id, 'job.completed')).result).toBe('answered');
    expect((await parts.waybill.questions.list()).items).toHaveLength(1);
  });

  it('ends although its handler catches everything, or does not wait at all', async () => {
    for (const run of [
      async (_: unknown, { ask }: TaskContext) => {
        await ask(DEPLOY).catch(() => {});
      },
      async (_: unknown, { ask, signal }: TaskContext) => {
        void ask(DEPLOY);
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
        signal.throwIfAborted();
      },
    ]) {
      const parts = asking();
      const one = deploying(run);
      parts.work([one]);
      await parts.add(one);
      await parts.asleep();
      expect(parts.settled).toMatchObject([{ kind: 'snoozed' }]);
    }
  });

  it('fails by name where the question is bad, or where nobody keeps questions', async () => {
    const parts = bench();
    const one = deploying(async (_, { ask }) => ask({ texts: 'Deploy?' } as never));
    const other = task('site.other', { run: async (_: unknown, { ask }) => ask(DEPLOY), retry: { max_attempts: 1 } });
    const { ask: _none, ...jobs } = parts.jobs;
    parts.work([one, other], { jobs });
    const bad = await parts.happened((await parts.add(one)).id, 'job.failed');
    expect(bad.errors[0]).toMatchObject({ code: 'invalid_request', message: expect.stringContaining("'text'") });
    const none = await parts.happened((await parts.add(other)).id, 'job.discarded');
    expect(none.errors[0]).toMatchObject({ code: 'unsupported' });
  });
});
