import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { aTask, complete, fail, madeJob, runOf, runsOf, TASKS } from '../testing/tasks.ts';

interface TaskEvent {
  eventType: string;
  properties: Record<string, unknown>;
}

test('the events of a task are its own, in the words of the task interface and without its output', async () => {
  const server = harness();
  const eventsOf = async (jobId: string, taskId: string) => {
    const { status, body } = await server.get(`${TASKS}/jobs/${jobId}/tasks/${taskId}/events`);
    expect([status, body.taskId, body.jobId, body.nextCursor]).toEqual([200, taskId, jobId, null]);
    return body.events as TaskEvent[];
  };
  const typesOf = async (jobId: string, taskId: string) =>
    (await eventsOf(jobId, taskId)).map(({ eventType }) => eventType);
  const jobId = await madeJob(server, [aTask('task-1'), aTask('task-10', { dependsOn: ['task-1'] }), aTask('bad')]);
  const other = await madeJob(server, [aTask('task-1')]);
  const runs = await server.waybill.jobs.claim({ queues: ['agent-tasks'], count: 10 });
  const [first, bad] = runs.filter(({ job }) => `job-${job.workflowId}` === jobId);
  await complete(server, first!, { secret: 'the output' });
  await fail(server, bad!);
  const events = await eventsOf(jobId, 'task-1');
  expect(events).toMatchObject([
    { eventType: 'Task Pending', properties: { requestId: 'task-1', jobId, hasDependencyOutputs: false } },
    {
      eventType: 'Task Processing Started',
      properties: { attemptNumber: 1 },
      context: { workerId: expect.any(String) },
    },
    { eventType: 'Task Completed', properties: { hasOutput: true, duration_ms: 0 } },
  ]);
  expect(JSON.stringify(events)).not.toContain('the output');
  // An id that begins alike, and the same id in another job, have a history of their own.
  expect(await typesOf(jobId, 'task-10')).toEqual(['Task Waiting', 'Task Pending']);
  expect(await typesOf(other, 'task-1')).toEqual(['Task Pending', 'Task Processing Started']);
  expect(await typesOf(jobId, 'bad')).toEqual(['Task Pending', 'Task Processing Started', 'Task Failed']);
  expect((await server.get(`${TASKS}/jobs/${jobId}/tasks/none/events`)).status).toBe(404);
});

test('a run that takes too long, a retry and a cancelled task are told', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('slow', { timeoutMs: 1_000 }), aTask('behind', { dependsOn: ['slow'] })]);
  const path = `${TASKS}/jobs/${jobId}/tasks`;
  await runOf(server, 'slow');
  await server.clock.advance(5_000);
  await server.post(`${path}/slow/retry`);
  const typesOf = async (taskId: string) =>
    (await server.get(`${path}/${taskId}/events`)).body.events.map(({ eventType }: TaskEvent) => eventType);
  expect(await typesOf('slow')).toEqual([
    ...['Task Pending', 'Task Processing Started', 'Task Timeout', 'Task Pending'],
  ]);
  expect(await typesOf('behind')).toEqual(['Task Waiting', 'Task Failed', 'Task Waiting']);
});

test('the rounds of a review are one history', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('draft', { requiresReview: true })]);
  const path = `${TASKS}/jobs/${jobId}/tasks/draft`;
  for (const feedback of ['Shorter.', undefined]) {
    await complete(server, await runOf(server, 'draft'), 'text');
    await server.clock.advance(1_000);
    if (feedback !== undefined) await server.post(`${path}/request-revision`, { feedback });
  }
  await server.post(`${path}/approve`, { comment: 'Good.' });
  const { events } = (await server.get(`${path}/events`)).body;
  expect(events.map(({ eventType }: TaskEvent) => eventType)).toEqual([
    ...['Task Pending', 'Task Processing Started', 'Task Submitted For Review', 'Task Revision Requested'],
    ...['Task Pending', 'Task Processing Started', 'Task Submitted For Review', 'Task Approved'],
  ]);
  const asked = events.find(({ eventType }: TaskEvent) => eventType === 'Task Revision Requested');
  expect(asked.properties).toMatchObject({ iteration: 1, feedback: 'Shorter.', requestId: 'draft' });
  expect(events[5].properties).toMatchObject({ iteration: 2, attemptNumber: 1 });
});

test('a long history comes in pages', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('a')]);
  await complete(server, (await runsOf(server)).get('a')!);
  const path = `${TASKS}/jobs/${jobId}/tasks/a/events`;
  const seen: string[] = [];
  let cursor: string | null = '';
  for (let pages = 0; pages < 10 && cursor !== null; pages += 1) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await server.get(`${path}?limit=1${query}`);
    expect(body.events.length).toBeLessThanOrEqual(1);
    seen.push(...body.events.map(({ eventType }: TaskEvent) => eventType));
    cursor = body.nextCursor;
  }
  expect(seen).toEqual(['Task Pending', 'Task Processing Started', 'Task Completed']);
});
