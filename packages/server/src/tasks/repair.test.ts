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

const at = (jobId: string, rest: string) => `${TASKS}/jobs/${jobId}/${rest}`;

/** Two branches have failed, and each has a task behind it. */
async function broken(server: Harness): Promise<string> {
  const jobId = await madeJob(server, [
    ...[aTask('left'), aTask('right'), aTask('fine')],
    ...[aTask('afterLeft', { dependsOn: ['left', 'fine'] }), aTask('both', { dependsOn: ['left', 'right'] })],
  ]);
  const runs = await runsOf(server);
  await fail(server, runs.get('left')!);
  await complete(server, runs.get('fine')!, 'f');
  await fail(server, runs.get('right')!);
  await ended(server, jobId);
  return jobId;
}

const ended = (server: Harness, jobId: string) =>
  eventually(async () => expect(await shownJob(server, jobId)).toHaveProperty('completedAt'));

test('a failed task leaves independent ones alone, and what waits for it does not wait for ever', async () => {
  const server = harness();
  const jobId = await broken(server);
  expect(await statusesOf(server, jobId)).toEqual({
    ...{ job: 'partial_failure', left: 'failed', right: 'failed', fine: 'completed' },
    ...{ afterLeft: 'cancelled', both: 'cancelled' },
  });
  const { tasks } = await shownJob(server, jobId);
  expect(tasks[0]).toMatchObject({ error: { code: 'boom', message: 'It broke.' }, lastEventType: 'Task Failed' });
});

test('a task that takes too long fails its job at once, without another event', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('slow', { timeoutMs: 1_000 }), aTask('behind', { dependsOn: ['slow'] })]);
  await runOf(server, 'slow');
  await server.clock.advance(5_000);
  await ended(server, jobId);
  expect(await statusesOf(server, jobId)).toEqual({ job: 'partial_failure', slow: 'failed', behind: 'cancelled' });
  expect((await shownJob(server, jobId)).tasks[0]).toMatchObject({ lastEventType: 'Task Timeout' });
});

test('one failed task is run again, with what waits for it and for no other failed one', async () => {
  const server = harness();
  const jobId = await broken(server);
  const { status, body } = await server.post(at(jobId, 'tasks/left/retry'));
  expect([status, body]).toEqual([200, { jobId, taskId: 'left', status: 'pending' }]);
  expect(await statusesOf(server, jobId)).toEqual({
    ...{ job: 'partial_failure', left: 'pending', right: 'failed', fine: 'completed' },
    ...{ afterLeft: 'waiting', both: 'cancelled' },
  });
  await complete(server, await runOf(server, 'left'), 'l');
  expect((await runOf(server, 'afterLeft')).parentResults).toEqual(['l', 'f']);
});

test('a partly failed job is resumed: failed tasks only, and others keep what they came to', async () => {
  const server = harness();
  const jobId = await broken(server);
  const { status, body } = await server.post(at(jobId, 'resume'));
  expect([status, body]).toEqual([200, { jobId, status: 'processing', retriedTasks: ['left', 'right'] }]);
  const runs = await runsOf(server);
  expect([...runs.keys()].sort()).toEqual(['left', 'right']);
  await complete(server, runs.get('left')!);
  await complete(server, runs.get('right')!);
  for (const lease of (await runsOf(server)).values()) await complete(server, lease);
  await ended(server, jobId);
  const { status: end, tasks } = await shownJob(server, jobId);
  expect(end).toBe('completed');
  expect(tasks[2]).toMatchObject({ taskId: 'fine', output: 'f', attempt: 1 });
});

test('what has not failed is not run again', async () => {
  const server = harness();
  const jobId = await broken(server);
  const statusOf = async (rest: string) => (await server.post(at(jobId, rest))).status;
  expect(await statusOf('tasks/fine/retry')).toBe(409);
  expect(await statusOf('tasks/both/retry')).toBe(409);
  expect(await statusOf('tasks/nothing/retry')).toBe(404);
  await server.post(at(jobId, 'tasks/left/retry'));
  const again = await server.post(at(jobId, 'tasks/left/retry'));
  expect([again.status, again.body.error.message]).toEqual([
    ...[409, "Task 'left' is available; only a failed task can be run again."],
  ]);
  expect((await server.post(at(jobId, 'tasks/left/retry'), { force: true })).status).toBe(400);
});

test('a cancelled job starts nothing more, and is cancelled only once', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('a'), aTask('b', { dependsOn: ['a'] })]);
  const lease = await runOf(server, 'a');
  const { status, body } = await server.post(at(jobId, 'cancel'));
  expect([status, body]).toEqual([200, { jobId, status: 'cancelled' }]);
  await expect(complete(server, lease)).rejects.toMatchObject({ code: 'lease_lost' });
  expect(await statusesOf(server, jobId)).toEqual({ job: 'cancelled', a: 'cancelled', b: 'cancelled' });
  expect((await server.post(at(jobId, 'cancel'))).status).toBe(200);
  expect((await server.post(at(jobId, 'resume'))).status).toBe(409);
  const done = await madeJob(server, [aTask('only')]);
  await complete(server, await runOf(server, 'only'));
  const late = await server.post(at(done, 'cancel'));
  expect([late.status, late.body.error.message]).toEqual([
    409,
    `Job ${done} is completed; only a running one can be cancelled.`,
  ]);
  expect((await server.post(at(done, 'resume'))).status).toBe(409);
});
