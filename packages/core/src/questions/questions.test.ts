import { expect, test } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import { asking, run, testQuestions } from '../testing/test-questions.ts';
import { KEPT_MS } from './question.ts';
import { UNCONFIRMED_MS } from './questions.ts';

testQuestions('memory', () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: async () => {} };
});

const invalid = (field: string) => ({ code: 'invalid_request', details: { field } });

test('each change of a question is told in the log, without what people have written', async () => {
  const { waybill } = testEngine({ maintenance: false });
  const { question, id, sleep, confirm } = await asking(waybill);
  await sleep();
  await confirm();
  await waybill.questions.answer(question.id, { choice: 'no', text: 'My reasons.' }, { by: 'ann' });
  const { events } = await waybill.events.read({ filter: { types: ['question.asked', 'question.answered'] } });
  const facts = { job_id: id, key: 'deploy', text: 'Deploy?', choices: ['yes', 'no'] };
  expect(events).toMatchObject([
    { type: 'question.asked', subject: question.id, sequence: 1, data: facts },
    { type: 'question.answered', subject: question.id, sequence: 2 },
  ]);
  expect(events[1]!.data).toEqual({ job_id: id, choice: 'no', by: 'ann' });
});

test('the sweep starts a job whose question has expired, and its run is told so once', async () => {
  const { waybill, clock } = testEngine();
  const first = await asking(waybill, 'deploy', { expiresInMs: 20_000 });
  await first.sleep();
  await first.confirm();
  await clock.set(first.question.expiresAt);
  expect((await waybill.jobs.get(first.id)).state).toBe('available');
  for (let n = 0; n < 2; n += 1) {
    const next = await run(waybill, first.id);
    expect(next.question).toMatchObject({ status: 'expired', answer: null });
    await waybill.jobs.settle({ id: first.id, leaseToken: next.lease.token, outcome: { kind: 'requeued' } });
  }
  const { events } = await waybill.events.read({ filter: { types: ['question.expired'] } });
  expect(events).toMatchObject([{ subject: first.question.id, data: { job_id: first.id } }]);
});

test('a job that was snoozed for another reason is not woken by an answer', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const { id, lease, question } = await asking(waybill);
  const until = clock.now() + 3_600_000;
  await waybill.jobs.settle({ id, leaseToken: lease.token, outcome: { kind: 'snoozed', until } });
  await waybill.questions.answer(question.id, { choice: 'yes' });
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'retryable', scheduledAt: until });
});

test('a job with a limit gives its slot to others while it sleeps, and gets one to wake', async () => {
  const { waybill } = testEngine({ maintenance: false });
  await waybill.limits.set('one', { concurrency: 1, rate: null });
  const add = () => waybill.jobs.enqueue({ type: 'test.job', args: [], options: { rate_limit: { key: 'one' } } });
  const { job } = await add();
  const first = await run(waybill, job.id);
  const { job: other } = await add();
  await first.sleep();
  await first.confirm();
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  expect(lease!.job.id).toBe(other.id);
  await waybill.questions.answer(first.question.id, { choice: 'yes' });
  expect(await waybill.jobs.get(first.id)).toMatchObject({ state: 'available', rank: null });
  await waybill.jobs.settle({ id: other.id, leaseToken: lease!.token, outcome: { kind: 'completed', result: null } });
  expect((await waybill.jobs.get(first.id)).rank).not.toBeNull();
});

test('a key whose question id is that of another key is refused, and has no answer of the other', async () => {
  const { waybill } = testEngine({ maintenance: false });
  const { id, lease, question } = await asking(waybill, 'key-467610');
  await waybill.questions.answer(question.id, { choice: 'yes' });
  const other = { id, leaseToken: lease.token, key: 'key-4889369', text: 'Delete?' };
  await expect(waybill.jobs.ask(other)).rejects.toMatchObject({
    ...{ code: 'conflict', details: { question_id: question.id } },
  });
});

test('bad questions and bad answers are refused by name', async () => {
  const { waybill } = testEngine({ maintenance: false });
  const { ask, question } = await asking(waybill);
  const asks: [object, string][] = [
    [{ text: ' ' }, 'text'],
    [{ text: 'x'.repeat(10_001) }, 'text'],
    [{ key: '' }, 'key'],
    [{ choices: [] }, 'choices'],
    [{ choices: ['a', 'a'] }, 'choices[1]'],
    [{ choices: ['a', ''] }, 'choices[1]'],
    [{ details: { large: 'x'.repeat(33_000) } }, 'details'],
    [{ expiresInMs: 999 }, 'expires_in_ms'],
    [{ leaseToken: undefined }, 'lease_token'],
    [{ choice: ['a'] }, 'choice'],
  ];
  for (const [change, field] of asks)
    await expect(waybill.jobs.ask({ ...ask, ...change }), field).rejects.toMatchObject(invalid(field));
  const free = await waybill.jobs.ask({ ...ask, key: 'free', choices: undefined as never });
  const answers: [string, object, string][] = [
    [question.id, { choice: 'maybe' }, 'choice'],
    [question.id, { text: 'yes' }, 'choice'],
    [question.id, { choice: 'yes', reason: 'x' }, 'reason'],
    [free.id, { choice: 'yes', text: 'x' }, 'choice'],
    [free.id, {}, 'text'],
  ];
  for (const [id, answer, field] of answers)
    await expect(waybill.questions.answer(id, answer), field).rejects.toMatchObject(invalid(field));
  for (const id of ['x', question.id.replace(/.$/, 'z'), `${question.jobId}.000000000000`])
    await expect(waybill.questions.get(id)).rejects.toMatchObject({ code: 'not_found' });
});

test('a question that a living job goes on asking is kept, and others are not', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const first = await asking(waybill);
  await waybill.questions.answer(first.question.id, { choice: 'yes' });
  let { lease } = first;
  for (let n = 0; n < 3; n += 1) {
    await waybill.jobs.settle({ id: first.id, leaseToken: lease.token, outcome: { kind: 'requeued' } });
    await clock.advance((KEPT_MS * 2) / 3);
    ({ lease } = await run(waybill, first.id));
  }
  expect((await waybill.questions.get(first.question.id)).status).toBe('answered');
  await clock.advance(KEPT_MS * 2);
  await expect(waybill.questions.get(first.question.id)).rejects.toMatchObject({ code: 'not_found' });
});

test('questions of a job that has finished, or is gone, are closed', async () => {
  const { waybill, store, clock } = testEngine({ maintenance: false });
  const { id, lease, question, sleep, confirm } = await asking(waybill);
  const status = async () => (await waybill.questions.get(question.id)).status;
  const answer = () => waybill.questions.answer(question.id, { choice: 'yes' });
  await waybill.jobs.settle({ id, leaseToken: lease.token, outcome: { kind: 'completed', result: null } });
  expect(await status()).toBe('closed');
  await expect(answer()).rejects.toMatchObject({ code: 'conflict', details: { status: 'closed' } });
  // Nothing sleeps for it any more, whatever the worker of before says.
  await expect(sleep()).rejects.toMatchObject({ code: 'lease_lost' });
  await expect(confirm()).rejects.toMatchObject({ code: 'lease_lost' });
  await waybill.jobs.retry(id);
  expect(await status()).toBe('open');
  await waybill.jobs.cancel(id);
  await clock.advance(1_000);
  const now = clock.now();
  await store.prune({ finishedBefore: now, deadBefore: now, eventsBefore: 0, limit: 100 });
  await expect(waybill.jobs.get(id)).rejects.toMatchObject({ code: 'not_found' });
  expect(await status()).toBe('closed');
  await expect(answer()).rejects.toMatchObject({ code: 'conflict' });
});

test('questions are found by job and by the begin of their id', async () => {
  const { waybill } = testEngine({ maintenance: false });
  const { ask, question, id } = await asking(waybill);
  await waybill.jobs.ask({ ...ask, key: 'second' });
  const ids = async (query: object) => (await waybill.questions.list(query)).items.map((one) => one.id);
  expect(await ids({ jobId: id })).toHaveLength(2);
  expect(await ids({ idPrefix: question.id.slice(0, -2) })).toEqual([question.id]);
  expect(await ids({ idPrefix: question.id, status: 'answered' })).toEqual([]);
  await expect(ids({ idPrefix: 'xyz' })).rejects.toMatchObject(invalid('id_prefix'));
  await expect(ids({ status: 'done' })).rejects.toMatchObject(invalid('status'));
});

test('an unconfirmed sleep is short, so that a run whose worker died asks again', async () => {
  const { waybill, clock } = testEngine();
  const first = await asking(waybill);
  await first.sleep();
  await clock.advance(UNCONFIRMED_MS);
  const second = await run(waybill, first.id);
  expect(second.question).toEqual(first.question);
  expect(second.lease.job.attempt).toBe(1);
});
