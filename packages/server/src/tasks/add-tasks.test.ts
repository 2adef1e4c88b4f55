import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import {
  aTask,
  complete,
  fail,
  madeJob,
  runOf,
  runsOf,
  runsOfTasks,
  shownJob,
  statusesOf,
  TASKS,
} from '../testing/tasks.ts';

const adding = (jobId: string) => `${TASKS}/jobs/${jobId}/tasks`;

test('tasks that are added may wait for old and new ones, and ready ones get what their parents came to', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('old'), aTask('slow')]);
  const runs = await runsOf(server);
  await complete(server, runs.get('old')!, 'o');
  const { status, body } = await server.post(adding(jobId), {
    tasks: [
      aTask('now', { dependsOn: ['old'] }),
      aTask('root'),
      aTask('later', { dependsOn: ['slow'] }),
      aTask('last', { dependsOn: ['now', 'later'] }),
    ],
  });
  expect([status, body]).toEqual([
    200,
    {
      ...{ jobId, addedTasks: ['now', 'root', 'later', 'last'], immediatelyReady: ['now', 'root'] },
      totalTasksNow: 6,
    },
  ]);
  const [now] = await runsOfTasks(server, 'now', 'root');
  expect(now!.parentResults).toEqual(['o']);
  await complete(server, runs.get('slow')!, 's');
  const later = await runOf(server, 'later');
  expect(later.parentResults).toEqual(['s']);
});

test('two calls at once both count', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('first')]);
  const calls = Array.from({ length: 10 }, (_, index) =>
    server.post(adding(jobId), {
      tasks: [aTask(`a${index}`), aTask(`b${index}`, { dependsOn: ['first', `a${index}`] })],
    }),
  );
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
  const { totalTasks, tasks } = await shownJob(server, jobId);
  expect(totalTasks).toBe(21);
  expect(new Set(tasks.map(({ taskId }: { taskId: string }) => taskId)).size).toBe(21);
});

test('of two calls at once with one id, one counts and the other is told', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('first')]);
  const answers = await Promise.all(
    ['one', 'two'].map((text) => server.post(adding(jobId), { tasks: [aTask('same', { description: text })] })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  const refusal = answers.find(({ status }) => status === 400)!.body.error;
  expect(refusal.details.field).toMatch(/^tasks\[0\]\.taskId$/);
});

test('a task that ends while another is added behind it starts that one', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('first'), aTask('other')]);
  const runs = await runsOf(server);
  const [answer] = await Promise.all([
    server.post(adding(jobId), { tasks: [aTask('behind', { dependsOn: ['first'] })] }),
    complete(server, runs.get('first')!, 1),
  ]);
  expect(answer.status).toBe(200);
  expect((await runOf(server, 'behind')).parentResults).toEqual([1]);
});

test('a call that is sent again adds nothing and is answered as before', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('first')]);
  const tasks = [aTask('more', { dependsOn: ['first'], requiresReview: true }), aTask('most', { dependsOn: ['more'] })];
  const [one, two] = [await server.post(adding(jobId), { tasks }), await server.post(adding(jobId), { tasks })];
  expect([two.status, two.body]).toEqual([200, one.body]);
  expect(one.body.totalTasksNow).toBe(3);
});

test('what is wrong is told at once, with ids that exist already', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('first'), aTask('second')]);
  const before = await server.stored();
  const { status, body } = await server.post(adding(jobId), {
    tasks: [aTask('first'), aTask('new', { dependsOn: ['secund'] }), aTask('bad', { maxTurns: 0 })],
  });
  expect(status).toBe(400);
  expect(body.error.details.errors).toEqual([
    { field: 'tasks[2].maxTurns', message: expect.stringContaining('1 to 200') },
    { field: 'tasks[0].taskId', message: "'first' is the name of an earlier task." },
    { field: 'tasks[1].dependsOn[0]', message: "'secund' is no task here. Did you mean 'second'?" },
  ]);
  expect(await server.stored()).toBe(before);
});

test('a round of a review is no task that others could wait for', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('draft', { requiresReview: true })]);
  const { status } = await server.post(adding(jobId), { tasks: [aTask('x', { dependsOn: ['draft[1]'] })] });
  expect(status).toBe(400);
});

test('a job that has ended takes no more tasks', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('only')]);
  await complete(server, await runOf(server, 'only'));
  const { status, body } = await server.post(adding(jobId), { tasks: [aTask('late')] });
  expect([status, body.error.code]).toEqual([409, 'conflict']);
  expect(body.error.message).toBe('Only a running job takes new tasks.');
});

test('a job that has failed partly takes more while it runs', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('bad'), aTask('good')]);
  const runs = await runsOf(server);
  await fail(server, runs.get('bad')!);
  expect((await server.post(adding(jobId), { tasks: [aTask('more', { dependsOn: ['good'] })] })).status).toBe(200);
  await complete(server, runs.get('good')!);
  await complete(server, await runOf(server, 'more'));
  expect(await statusesOf(server, jobId)).toEqual({
    ...{ job: 'partial_failure', bad: 'failed', good: 'completed', more: 'completed' },
  });
});
