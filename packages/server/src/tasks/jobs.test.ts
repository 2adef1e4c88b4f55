import { describe, expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { aTask, complete, fail, madeJob, runOf, runsOf, shownJob, statusesOf, TASKS } from '../testing/tasks.ts';

const JOBS = `${TASKS}/jobs`;

const faultsOf = (body: { error: { details: { errors: { field: string; message: string }[] } } }): string[] =>
  body.error.details.errors.map(({ field, message }) => `${field}: ${message}`);

test('a job of tasks is made, worked on in the order of its graph, and told with what its tasks came to', async () => {
  const server = harness();
  const { status, body, headers } = await server.post(JOBS, {
    name: 'report',
    tasks: [aTask('fetch', { input: { url: 'a' } }), aTask('check'), aTask('write', { dependsOn: ['fetch', 'check'] })],
  });
  expect([status, body]).toEqual([
    201,
    {
      ...{ jobId: expect.stringMatching(/^job-[0-9a-f-]{36}$/), status: 'created', totalTasks: 3 },
      ...{ rootTasks: ['fetch', 'check'], createdAt: expect.any(String) },
    },
  ]);
  expect(headers.get('location')).toBe(`${JOBS}/${body.jobId}`);
  // The originals knew of a job only some time after it was made.
  expect(await statusesOf(server, body.jobId)).toEqual({
    ...{ job: 'processing', fetch: 'pending', check: 'pending', write: 'waiting' },
  });
  const runs = await runsOf(server);
  expect(runs.get('fetch')!.job.spec.args).toEqual([
    {
      ...{ requestId: 'fetch', taskId: 'fetch', name: 'Do fetch', input: { url: 'a' } },
      ...{ description: 'Work.', tag: 'worker' },
    },
  ]);
  expect(runs.get('fetch')!.job.type).toBe('agent.task');
  await complete(server, runs.get('fetch')!, 'page');
  expect(await statusesOf(server, body.jobId)).toMatchObject({
    fetch: 'completed',
    check: 'processing',
    write: 'waiting',
  });
  await complete(server, runs.get('check')!, null);
  const write = await runOf(server, 'write');
  // A task without an output contributes nothing, and is in its place all the same.
  expect([write.parentResults, write.job.spec.meta]).toEqual([['page', null], { parent_names: ['fetch', 'check'] }]);
  await complete(server, write, { text: 'the end' });
  const job = await shownJob(server, body.jobId);
  expect(job).toMatchObject({
    ...{ name: 'report', status: 'completed', totalTasks: 3, completedAt: expect.any(String) },
    progress: {
      waiting: 0,
      pending: 0,
      processing: 0,
      in_review: 0,
      completed: 3,
      failed: 0,
      cancelled: 0,
      skipped: 0,
    },
    tasks: [
      { taskId: 'fetch', output: 'page', dependsOn: [], attempt: 1, iteration: 1, lastEventType: 'Task Completed' },
      { taskId: 'check', status: 'completed' },
      { taskId: 'write', output: { text: 'the end' }, dependsOn: ['fetch', 'check'] },
    ],
  });
  expect(job.tasks[1]).not.toHaveProperty('output');
});

test('a task shows what it was asked for, and what the agent says it took', async () => {
  const server = harness();
  const asked = {
    ...{ repo: 'https://example.com/a.git', allowedTools: ['Read'], maxTurns: 5, model: 'opus', timeoutMs: 60_000 },
    ...{ maxAttempts: 2, feedbackCommands: { test: 'npm test' }, queue: 'agents' },
  };
  const jobId = await madeJob(server, [aTask('fix', { ...asked, priority: 7 })]);
  const lease = (await runsOf(server, 'agents')).get('fix')!;
  expect(lease.job).toMatchObject({ timeoutMs: 60_000, maxAttempts: 2, priority: 7 });
  const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 3 };
  const repo = { commit: 'a', passed: true, rounds: 1 };
  await complete(server, lease, { output: 'fixed', usage, durationMs: 1_234, costUsd: 0.5, turns: 3, repo });
  const { tasks } = await shownJob(server, jobId);
  expect(tasks).toMatchObject([
    {
      ...{ taskId: 'fix', name: 'Do fix', description: 'Work.', tag: 'worker', requiresReview: false, ...asked },
      ...{ output: 'fixed', usage, durationMs: 1_234, costUsd: 0.5, feedbackResult: { passed: true, rounds: 1 } },
      ...{ startedAt: expect.any(String), finishedAt: expect.any(String), ojsJobId: lease.job.id },
    },
  ]);
});

test('a task of a type of its own needs neither description nor tag', async () => {
  const server = harness();
  await madeJob(server, [{ taskId: 'mail', name: 'Mail', type: 'mail.send', input: [1] }]);
  const [lease] = await server.waybill.jobs.claim({ queues: ['default'] });
  expect(lease!.job).toMatchObject({ type: 'mail.send', spec: { args: [{ taskId: 'mail', input: [1] }] } });
});

describe('everything that is wrong with a request is told at once', () => {
  test('fields of several tasks, unknown ones with a proposal', async () => {
    const { post, stored } = harness();
    const before = await stored();
    const { status, body } = await post(JOBS, {
      timeoutMs: 0,
      task: 1,
      tasks: [
        { taskId: 'a b', name: ' ', description: '', tag: 'x' },
        aTask('ok', { maxTurns: 201, allowedTools: ['Read', ''], queue: 'NO', timeoutMs: -1, dependOn: [] }),
        7,
        aTask('c', { feedbackCommands: { lint: '', build: 'make' }, requiresReview: 'yes', dependsOn: 'ok' }),
        { taskId: 'd', name: 'Unknown' },
        { taskId: 'e', name: 'E', description: 'Work.' },
      ],
    });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(faultsOf(body).map((line) => line.slice(0, line.indexOf(':')))).toEqual([
      ...['task', 'timeoutMs', 'tasks[0].taskId', 'tasks[0].name', 'tasks[0].description'],
      ...['tasks[1].dependOn', 'tasks[1].allowedTools[1]', 'tasks[1].maxTurns', 'tasks[2]'],
      ...['tasks[3].requiresReview', 'tasks[3].feedbackCommands.build', 'tasks[5].tag', 'tasks[4].name'],
      ...['tasks[1].queue', 'tasks[1].timeoutMs', 'tasks[3].dependsOn'],
    ]);
    const text = faultsOf(body).join('\n');
    expect(text).toContain("Did you mean 'dependsOn'?");
    expect(text).toContain("there is no task definition 'Unknown'");
    expect(body.error.details.field).toBe('task');
    expect(body.error.message).toMatch(/15 more: see details\.errors\.$/);
    expect(await stored()).toBe(before);
  });

  test('unknown references and repeated ids, each by its name', async () => {
    const { post } = harness();
    const { status, body } = await post(JOBS, {
      tasks: [aTask('fetch'), aTask('write', { dependsOn: ['fetsh', 'fetch', 'nothing'] }), aTask('fetch')],
    });
    expect(status).toBe(400);
    expect(faultsOf(body)).toEqual([
      "tasks[1].dependsOn[0]: 'fetsh' is no task here. Did you mean 'fetch'?",
      "tasks[1].dependsOn[2]: 'nothing' is no task here.",
      "tasks[2].taskId: 'fetch' is the name of an earlier task.",
    ]);
  });

  test('circles, with the tasks in them', async () => {
    const { post } = harness();
    const tasks = [
      aTask('a', { dependsOn: ['c'] }),
      aTask('b', { dependsOn: ['a'] }),
      aTask('c', { dependsOn: ['b'] }),
    ];
    const { status, body } = await post(JOBS, { tasks: [aTask('root'), ...tasks] });
    expect([status, faultsOf(body)]).toEqual([400, ["tasks: 'tasks' go in a circle: a, b, c wait for each other."]]);
    expect((await post(JOBS, { tasks: [aTask('own', { dependsOn: ['own'] })] })).status).toBe(400);
  });

  test.each([
    ['no tasks', {}],
    ['an empty list', { tasks: [] }],
    ['51 tasks', { tasks: Array.from({ length: 51 }, (_, index) => aTask(`t${index}`)) }],
    ['no list', { tasks: 'all' }],
  ])('%s', async (_, request) => {
    const { status, body } = await harness().post(JOBS, request);
    expect([status, body.error.details.field]).toEqual([400, 'tasks']);
  });

  test('50 tasks are taken, with every character that an id may have', async () => {
    const server = harness();
    const ids = ['_first', '-second', 'A-z_9'.repeat(25), ...Array.from({ length: 47 }, (_, index) => `task-${index}`)];
    const jobId = await madeJob(
      server,
      ids.map((id) => aTask(id)),
    );
    expect((await shownJob(server, jobId)).tasks.map(({ taskId }: { taskId: string }) => taskId)).toEqual(ids);
  });

  test('ids and names that mean something to JavaScript are ids and names like any other', async () => {
    const server = harness();
    const ids = ['__proto__', 'constructor', 'toString', 'depends_on', 'id'];
    const jobId = await madeJob(
      server,
      ids.map((id, index) => aTask(id, { dependsOn: ids.slice(0, index) })),
    );
    const { tasks } = await shownJob(server, jobId);
    expect(tasks.map(({ taskId, dependsOn }: { taskId: string; dependsOn: string[] }) => [taskId, dependsOn])).toEqual(
      ids.map((id, index) => [id, ids.slice(0, index)]),
    );
    await complete(server, await runOf(server, '__proto__'), 'p');
    expect((await runOf(server, 'constructor')).parentResults).toEqual(['p']);
    const named = await server.post(JOBS, {
      tasks: [
        { taskId: 'a', name: '__proto__' },
        { taskId: 'b', name: 'constructor' },
      ],
    });
    expect([named.status, faultsOf(named.body).length]).toEqual([400, 2]);
  });

  test('a body that is not JSON is the fault of the caller', async () => {
    const { raw } = harness();
    const { status, body } = await raw('POST', JOBS, {
      headers: { 'Content-Type': 'application/json' },
      body: '{"tasks":',
    });
    expect([status, body.error.code]).toEqual([400, 'invalid_payload']);
  });
});

describe('a list of jobs', () => {
  test('is newest first, in pages that are never longer than asked for and leave none out', async () => {
    const server = harness();
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      made.unshift(await madeJob(server, [aTask('one'), aTask('two')]));
      await server.clock.advance(1_000);
    }
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages += 1) {
      const { body } = await server.get(
        `${JOBS}?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(body.jobs.length).toBeLessThanOrEqual(2);
      for (const job of body.jobs) expect(job).toMatchObject({ status: 'processing', totalTasks: 2 });
      seen.push(...body.jobs.map(({ jobId }: { jobId: string }) => jobId));
      if (body.nextCursor === null) break;
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(made);
  });

  test('shows jobs of one status, and when they were made also after tasks were added', async () => {
    const server = harness();
    const broken = await madeJob(server, [aTask('a'), aTask('b')]);
    const runs = await runsOf(server);
    await fail(server, runs.get('a')!);
    const done = await madeJob(server, [aTask('c')]);
    await complete(server, await runOf(server, 'c'));
    const cancelled = await madeJob(server, [aTask('d')]);
    await server.post(`${JOBS}/${cancelled}/cancel`);
    const busy = await madeJob(server, [aTask('e')]);
    const before = await shownJob(server, busy);
    await server.clock.advance(60_000);
    await server.post(`${JOBS}/${busy}/tasks`, { tasks: [aTask('f')] });
    const listed = async (status: string) => (await server.get(`${JOBS}?status=${status}&limit=1`)).body.jobs;
    expect(await listed('processing')).toMatchObject([{ jobId: busy, totalTasks: 2, createdAt: before.createdAt }]);
    expect(await listed('partial_failure')).toMatchObject([{ jobId: broken, status: 'partial_failure' }]);
    expect(await listed('completed')).toMatchObject([{ jobId: done }]);
    expect(await listed('cancelled')).toMatchObject([{ jobId: cancelled }]);
    await complete(server, runs.get('b')!);
    expect(await listed('partial_failure')).toMatchObject([{ jobId: broken, status: 'partial_failure' }]);
  });

  test.each(['limit=0', 'limit=101', 'limit=x', 'status=done', 'page=2', 'cursor='])('refuses %s', async (query) => {
    expect((await harness().get(`${JOBS}?${query}`)).status).toBe(400);
  });
});

test.each(['job-1', 'job-019539a4-0000-7000-8000-000000000000', '019539a4-0000-7000-8000-000000000000', 'job-..%2f..'])(
  'there is no job %s, whatever is asked of it',
  async (jobId) => {
    const { get, post } = harness();
    const one = `${JOBS}/${jobId}`;
    const answers = [
      ...[await get(one), await post(`${one}/cancel`), await post(`${one}/resume`)],
      ...[await post(`${one}/tasks`, { tasks: [aTask('a')] }), await get(`${one}/tasks/a/events`)],
      ...[await post(`${one}/tasks/a/retry`), await post(`${one}/tasks/a/approve`)],
      await post(`${one}/tasks/a/request-revision`, { feedback: 'No.' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    for (const { body } of answers) expect(JSON.stringify(body)).not.toMatch(/workflow|node/i);
  },
);

test('outputs that are large together are left out, and are with their jobs', async () => {
  const server = harness();
  const jobId = await madeJob(server, [aTask('a'), aTask('b'), aTask('c')]);
  for (const lease of (await runsOf(server)).values()) await complete(server, lease, 'x'.repeat(400_000));
  const { tasks } = await shownJob(server, jobId);
  expect(tasks.map((task: object) => 'output' in task)).toEqual([true, true, false]);
  expect(tasks[2].outputOmitted).toBe(true);
  const { body } = await server.get(`/ojs/v1/jobs/${tasks[2].ojsJobId}`);
  expect(body.job.result).toHaveLength(400_000);
});
