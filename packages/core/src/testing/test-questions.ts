import { describe, expect, onTestFinished, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { UNCONFIRMED_MS } from '../questions/questions.ts';
import type { Store } from '../store/store.ts';
import type { Question, QuestionInput, Waybill } from '../waybill.ts';
import { severable } from './severed-store.ts';
import type { StoreFactory } from './store/bench.ts';

const CHOICES = ['yes', 'no'];
const CONFLICT = { code: 'conflict' };
const LONGEST_SEQUENCE = 12;

/** A run that has asked: `sleep` settles it as a worker does, `confirm` is the call that follows. */
export async function asking(waybill: Waybill, key = 'deploy', more: Pick<QuestionInput, 'expiresInMs'> = {}) {
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  return run(waybill, job.id, key, more);
}

/** The next run of a job, up to its question. */
export async function run(waybill: Waybill, id: string, key = 'deploy', more: Pick<QuestionInput, 'expiresInMs'> = {}) {
  const { jobs } = waybill;
  const [lease] = await jobs.claim({ queues: ['default'] });
  expect(lease?.job.id).toBe(id);
  const ask = { id, leaseToken: lease!.token, key, text: 'Deploy?', choices: CHOICES, ...more };
  const question = await jobs.ask(ask);
  return {
    ...{ id, lease: lease!, question, ask },
    sleep: async (on = waybill) => {
      const until = (await on.jobs.get(id)).startedAt! + UNCONFIRMED_MS;
      await on.jobs.settle({ id, leaseToken: lease!.token, outcome: { kind: 'snoozed', until } });
    },
    confirm: (on = waybill) => on.jobs.ask(ask),
  };
}

/** A stored answer has woken its job, or the job wakes by itself soon: whatever has died in between. */
export async function mustWake(store: Store, { id, questionId }: { id: string; questionId: string }): Promise<boolean> {
  const [record] = await store.records.get([{ tenant: '', kind: 'question', id: questionId }]);
  const [job] = await store.get([{ tenant: '', id }]);
  const isAnswered = record?.value['answer'] !== null;
  if (isAnswered && job!.state === 'retryable')
    expect(job!.nextAt).toBeLessThanOrEqual(store.clock.now() + UNCONFIRMED_MS);
  else if (isAnswered) expect(job!.state).toBe('available');
  return isAnswered;
}

/** What questions promise, on a store of its own for each test. */
export function testQuestions(name: string, factory: StoreFactory): void {
  const open = async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    const server = () => {
      const answers = { seen: 0, last: Number.POSITIVE_INFINITY };
      const way = severable(made.store, () => {
        answers.seen += 1;
        if (answers.seen >= answers.last) way.sever();
      });
      const waybill = engine({ store: way.store, logger: silentLogger, maintenance: false });
      onTestFinished(async () => {
        way.mend();
        await waybill.close();
      });
      /** From now on it gets so many answers of the store, and is dead then. */
      const dieAfter = (more: number) => {
        answers.last = answers.seen + more;
      };
      return { waybill, dieAfter };
    };
    return { ...made, server };
  };

  describe(`questions on ${name}`, () => {
    test('a job sleeps until it is answered, and its next run finds the answer', async () => {
      const { server, clock } = await open();
      const { waybill } = server();
      const first = await asking(waybill);
      expect(first.question).toMatchObject({ status: 'open', answer: null, jobId: first.id });
      await first.sleep();
      await first.confirm();
      const asleep = await waybill.jobs.get(first.id);
      expect(asleep).toMatchObject({ state: 'retryable', attempt: 0, scheduledAt: first.question.expiresAt });
      await clock.advance(60_000);
      const answered = await waybill.questions.answer(first.question.id, { choice: 'yes', text: 'Go.' }, { by: 'ann' });
      const answer = { choice: 'yes', text: 'Go.', by: 'ann', at: clock.now() };
      expect(answered).toMatchObject({ status: 'answered', answer });
      expect(await waybill.jobs.get(first.id)).toMatchObject({ state: 'available', scheduledAt: null });
      const second = await run(waybill, first.id);
      expect(second.question).toMatchObject({ id: first.question.id, status: 'answered', answer });
      expect(second.lease.job.attempt).toBe(1);
    });

    test('of two answers at once one counts, and the other is refused', async () => {
      const { server } = await open();
      const [a, b] = [server().waybill, server().waybill];
      const asked = await asking(a);
      await asked.sleep();
      await asked.confirm();
      const { id } = asked.question;
      const came = await Promise.allSettled([
        a.questions.answer(id, { choice: 'yes' }),
        b.questions.answer(id, { choice: 'no' }),
      ]);
      const won = came.filter((one): one is PromiseFulfilledResult<Question> => one.status === 'fulfilled');
      expect(won).toHaveLength(1);
      expect(came.find(({ status }) => status === 'rejected')).toMatchObject({ reason: CONFLICT });
      expect((await a.questions.get(id)).answer).toEqual(won[0]!.value.answer);
      await expect(a.questions.answer(id, { choice: 'no' })).rejects.toMatchObject(CONFLICT);
    });

    test('an answer that comes while the run is active wakes the job as soon as it sleeps', async () => {
      const { server } = await open();
      const { waybill } = server();
      for (const when of ['before the settle', 'before the confirmation'] as const) {
        const asked = await asking(waybill);
        if (when === 'before the settle') await waybill.questions.answer(asked.question.id, { choice: 'no' });
        await asked.sleep();
        if (when === 'before the confirmation') await waybill.questions.answer(asked.question.id, { choice: 'no' });
        expect(await asked.confirm()).toMatchObject({ status: 'answered' });
        expect((await waybill.jobs.get(asked.id)).state).toBe('available');
        await waybill.jobs.cancel(asked.id);
      }
    });

    test('wherever the answering server dies, a stored answer wakes the job, and a lost one can be given again', async () => {
      const { server, store } = await open();
      const { waybill } = server();
      let stored = 0;
      for (let calls = 0; calls <= LONGEST_SEQUENCE; calls += 1) {
        const asked = await asking(waybill);
        await asked.sleep();
        await asked.confirm();
        const dying = server();
        dying.dieAfter(calls);
        const questionId = asked.question.id;
        const isKnown = await dying.waybill.questions.answer(questionId, { choice: 'yes' }).then(
          () => true,
          () => false,
        );
        const isStored = await mustWake(store, { id: asked.id, questionId });
        if (isKnown) expect(isStored).toBe(true);
        if (isStored) stored += 1;
        else await waybill.questions.answer(questionId, { choice: 'yes' });
        expect((await waybill.questions.get(questionId)).status).toBe('answered');
        expect(await mustWake(store, { id: asked.id, questionId })).toBe(true);
        await waybill.jobs.cancel(asked.id);
      }
      // Both kinds of death have been tried.
      expect(stored).toBeGreaterThan(1);
      expect(stored).toBeLessThan(LONGEST_SEQUENCE);
    });

    test('wherever the confirming server dies, the job wakes by itself or sleeps until the question expires', async () => {
      const { server, store } = await open();
      const { waybill } = server();
      const alarms = new Set<string>();
      for (let calls = 0; calls <= LONGEST_SEQUENCE; calls += 1) {
        const asked = await asking(waybill);
        await asked.sleep();
        const dying = server();
        dying.dieAfter(calls);
        await asked.confirm(dying.waybill).catch(() => {});
        const { scheduledAt } = await waybill.jobs.get(asked.id);
        const isWhole = scheduledAt === asked.question.expiresAt;
        if (!isWhole) expect(scheduledAt).toBeLessThanOrEqual(store.clock.now() + UNCONFIRMED_MS);
        alarms.add(isWhole ? 'whole' : 'short');
        await waybill.questions.answer(asked.question.id, { choice: 'yes' });
        expect(await mustWake(store, { id: asked.id, questionId: asked.question.id })).toBe(true);
        await waybill.jobs.cancel(asked.id);
      }
      expect([...alarms].sort()).toEqual(['short', 'whole']);
    });

    test('a run that died after it had asked leaves its question to the next one', async () => {
      const { server, clock } = await open();
      const { waybill } = server();
      const first = await asking(waybill);
      await waybill.jobs.settle({ id: first.id, leaseToken: first.lease.token, outcome: { kind: 'requeued' } });
      await clock.advance(1_000);
      await expect(first.confirm()).rejects.toMatchObject({ code: 'lease_lost' });
      const second = await run(waybill, first.id);
      expect(second.question).toEqual(first.question);
      await second.sleep();
      await second.confirm();
      await waybill.questions.answer(first.question.id, { choice: 'yes' });
      expect((await waybill.jobs.get(first.id)).state).toBe('available');
    });

    test('a question expires, and one of a cancelled job is closed', async () => {
      const { server, clock } = await open();
      const { waybill } = server();
      const late = await asking(waybill);
      await late.sleep();
      await late.confirm();
      const cancelled = await asking(waybill, 'other');
      await cancelled.sleep();
      await cancelled.confirm();
      await waybill.jobs.cancel(cancelled.id);
      expect(await waybill.questions.get(cancelled.question.id)).toMatchObject({ status: 'closed' });
      const answer = (id: string) => waybill.questions.answer(id, { choice: 'yes' });
      await expect(answer(cancelled.question.id)).rejects.toMatchObject(CONFLICT);
      await clock.set(late.question.expiresAt);
      expect(await waybill.questions.get(late.question.id)).toMatchObject({ status: 'expired' });
      await expect(answer(late.question.id)).rejects.toMatchObject(CONFLICT);
      const listed = async (status: Question['status']) =>
        (await waybill.questions.list({ status })).items.map(({ id }) => id);
      expect(await listed('expired')).toEqual([late.question.id]);
      expect(await listed('closed')).toEqual([cancelled.question.id]);
    });
  });
}
