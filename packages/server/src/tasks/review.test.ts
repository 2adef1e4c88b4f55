import { expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';
import {
  aTask,
  complete,
  eventually,
  fail,
  madeJob,
  runOf,
  runsOf,
  shownJob,
  statusesOf,
  TASKS,
} from '../testing/tasks.ts';

const draft = (jobId: string, rest: string) => `${TASKS}/jobs/${jobId}/tasks/draft/${rest}`;

async function drafted(server: Harness): Promise<string> {
  const jobId = await madeJob(server, [
    ...[aTask('plan'), aTask('draft', { dependsOn: ['plan'], requiresReview: true })],
    aTask('publish', { dependsOn: ['draft'] }),
  ]);
  await complete(server, await runOf(server, 'plan'), 'the plan');
  await complete(server, await runOf(server, 'draft'), 'first');
  return jobId;
}

test('what waits for a reviewed task starts when it is approved, with the output of the last submission', async () => {
  const server = harness();
  const jobId = await drafted(server);
  expect(await statusesOf(server, jobId)).toEqual({
    ...{ job: 'processing', plan: 'completed', draft: 'in_review', publish: 'waiting' },
  });
  expect((await shownJob(server, jobId)).tasks[1]).toMatchObject({
    ...{ requiresReview: true, output: 'first', iteration: 1, dependsOn: ['plan'] },
    lastEventType: 'Task Submitted For Review',
  });
  expect([...(await runsOf(server)).keys()]).toEqual([]);
  const revised = await server.post(draft(jobId, 'request-revision'), { feedback: 'Shorter.', reviewer: 'ada' });
  expect([revised.status, revised.body]).toEqual([
    ...[200, { taskId: 'draft', status: 'revision_requested', iteration: 2 }],
  ]);
  const second = await runOf(server, 'draft');
  expect(second.parentResults).toEqual(['the plan']);
  expect(second.revision).toMatchObject({ iteration: 2, feedback: 'Shorter.', by: 'ada', previous: 'first' });
  expect(await statusesOf(server, jobId)).toMatchObject({ draft: 'processing', publish: 'waiting' });
  await complete(server, second, 'second');
  expect((await shownJob(server, jobId)).tasks[1]).toMatchObject({
    ...{ status: 'in_review', output: 'second', iteration: 2, reviewFeedback: 'Shorter.' },
  });
  const approved = await server.post(draft(jobId, 'approve'), { comment: 'Good.', iteration: 2 });
  expect([approved.status, approved.body]).toEqual([200, { taskId: 'draft', status: 'approved' }]);
  expect((await runOf(server, 'publish')).parentResults).toEqual(['second']);
  const { tasks, totalTasks } = await shownJob(server, jobId);
  expect(totalTasks).toBe(3);
  expect(tasks[1]).toMatchObject({ status: 'completed', output: 'second', lastEventType: 'Task Approved' });
});

test('a task that is not in review is neither approved nor revised', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('draft', { requiresReview: true }), aTask('plain')]);
  const revision = { feedback: 'No.' };
  for (const answer of [
    await server.post(draft(jobId, 'approve')),
    await server.post(draft(jobId, 'request-revision'), revision),
    await server.post(`${TASKS}/jobs/${jobId}/tasks/plain/approve`),
    await server.post(`${TASKS}/jobs/${jobId}/tasks/plain/request-revision`, revision),
  ])
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
  expect((await server.post(`${TASKS}/jobs/${jobId}/tasks/draft[1]/approve`)).status).toBe(404);
  await complete(server, (await runsOf(server)).get('draft')!);
  expect((await server.post(draft(jobId, 'approve'))).status).toBe(200);
  // Whoever repeats the call is answered as before, and what was approved is not revised.
  expect((await server.post(draft(jobId, 'approve'))).status).toBe(200);
  expect((await server.post(draft(jobId, 'request-revision'), revision)).status).toBe(409);
});

test('feedback has 1 to 5,000 characters', async () => {
  const server = harness();
  const jobId = await drafted(server);
  const before = await server.stored();
  for (const body of [{}, { feedback: '' }, { feedback: ' \n' }, { feedback: 'x'.repeat(5_001) }, { feedback: 7 }]) {
    const answer = await server.post(draft(jobId, 'request-revision'), body);
    expect([answer.status, answer.body.error.details.field]).toEqual([400, 'feedback']);
  }
  expect((await server.post(draft(jobId, 'request-revision'))).status).toBe(400);
  expect((await server.post(draft(jobId, 'request-revision'), { feedback: 'a', severity: 'major' })).status).toBe(400);
  expect(await server.stored()).toBe(before);
  expect((await server.post(draft(jobId, 'request-revision'), { feedback: 'x'.repeat(5_000) })).status).toBe(200);
});

test('there are five iterations, and the last one can only be approved', async () => {
  const server = harness();
  const jobId = await drafted(server);
  for (let iteration = 2; iteration <= 5; iteration += 1) {
    const { body } = await server.post(draft(jobId, 'request-revision'), { feedback: `Again, ${iteration}.` });
    expect(body.iteration).toBe(iteration);
    await complete(server, await runOf(server, 'draft'), iteration);
  }
  const { status, body } = await server.post(draft(jobId, 'request-revision'), { feedback: 'Once more.' });
  expect([status, body.error.code]).toEqual([409, 'conflict']);
  expect((await server.post(draft(jobId, 'approve'))).status).toBe(200);
  expect((await runOf(server, 'publish')).parentResults).toEqual([5]);
});

test('of two reviewers at once one counts', async () => {
  const server = harness();
  const jobId = await drafted(server);
  const calls = [
    server.post(draft(jobId, 'request-revision'), { feedback: 'Longer.' }),
    server.post(draft(jobId, 'request-revision'), { feedback: 'Shorter.' }),
    server.post(draft(jobId, 'approve'), { iteration: 1 }),
  ];
  expect((await Promise.all(calls)).map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});

test('a round that has failed is a failed task, and is run again under its id', async () => {
  const server = harness();
  const jobId = await drafted(server);
  await server.post(draft(jobId, 'request-revision'), { feedback: 'Shorter.' });
  await fail(server, await runOf(server, 'draft'));
  const end = { job: 'partial_failure', draft: 'failed', publish: 'cancelled' };
  await eventually(async () => expect(await statusesOf(server, jobId)).toMatchObject(end));
  expect((await server.post(draft(jobId, 'retry'))).status).toBe(200);
  const again = await runOf(server, 'draft');
  expect(again.revision).toMatchObject({ iteration: 2, feedback: 'Shorter.' });
  await complete(server, again, 'better');
  expect(await statusesOf(server, jobId)).toMatchObject({ draft: 'in_review', publish: 'waiting' });
});
