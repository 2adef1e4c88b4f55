import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { aTask, complete, madeJob, runOf, runsOf, shownJob, TASKS } from '../testing/tasks.ts';

const LIST = `${TASKS}/task-definitions`;
const ONE = `${LIST}/summarise`;
const GOOD = { description: 'Summarise it.', tag: 'editor' };

test('a definition is put, shown, changed and removed; when it was made stays', async () => {
  const { get, put, delete: remove, clock } = harness();
  const made = await put(ONE, { ...GOOD, requiresReview: true, maxTurns: 10, allowedTools: [], timeoutMs: 300_000 });
  expect([made.status, made.body]).toEqual([
    200,
    {
      ...{ name: 'summarise', ...GOOD, type: 'agent.task', queue: 'agent-tasks', requiresReview: true, maxTurns: 10 },
      ...{ allowedTools: [], timeoutMs: 300_000, version: expect.any(Number) },
      ...{ createdAt: expect.any(String), updatedAt: made.body.createdAt },
    },
  ]);
  expect((await get(ONE)).body).toEqual(made.body);
  await clock.advance(60_000);
  // The same again is no new version.
  expect(
    (await put(ONE, { ...GOOD, requiresReview: true, maxTurns: 10, allowedTools: [], timeoutMs: 300_000 })).body,
  ).toEqual(made.body);
  const changed = await put(ONE, { ...GOOD, tag: 'poet' });
  expect(changed.body).toMatchObject({ tag: 'poet', requiresReview: false, createdAt: made.body.createdAt });
  expect(changed.body.version).toBeGreaterThan(made.body.version);
  expect(changed.body.updatedAt).not.toBe(made.body.updatedAt);
  expect((await get(LIST)).body).toEqual({ definitions: [changed.body], nextCursor: null });
  expect((await remove(ONE)).body).toEqual(changed.body);
  expect([(await get(ONE)).status, (await remove(ONE)).status]).toEqual([404, 404]);
  expect((await put(ONE, GOOD)).body.version).toBeGreaterThan(changed.body.version);
});

test('a list comes in pages', async () => {
  const { get, put } = harness();
  for (const name of ['a', 'b', 'c']) await put(`${LIST}/${name}`, GOOD);
  const names = (page: { definitions: { name: string }[] }) => page.definitions.map(({ name }) => name);
  const first = (await get(`${LIST}?limit=2`)).body;
  expect(names(first)).toEqual(['a', 'b']);
  expect(names((await get(`${LIST}?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`)).body)).toEqual(['c']);
});

test('everything that is wrong with a definition is told at once', async () => {
  const { put, stored } = harness();
  const before = await stored();
  const { status, body } = await put(ONE, { tag: '', maxTurns: 0, queue: 'NO', tool: [], description: 7 });
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(body.error.details.errors.map(({ field }: { field: string }) => field)).toEqual([
    ...['tool', 'description', 'tag', 'maxTurns', 'queue'],
  ]);
  expect((await put(ONE, {})).body.error.details.errors.map(({ field }: { field: string }) => field)).toEqual([
    ...['description', 'tag'],
  ]);
  for (const name of ['a.b', 'x'.repeat(65), '%20', 'a%2Fb'])
    expect((await put(`${LIST}/${name}`, GOOD)).status).toBe(400);
  expect(await stored()).toBe(before);
});

test('whoever has read an older version is refused', async () => {
  const { put, delete: remove } = harness();
  const { headers } = await put(ONE, GOOD);
  const seen = { 'If-Match': headers.get('ETag')! };
  expect((await put(ONE, { ...GOOD, tag: 'a' }, seen)).status).toBe(200);
  expect((await put(ONE, { ...GOOD, tag: 'b' }, seen)).status).toBe(409);
  expect((await remove(ONE, seen)).status).toBe(409);
});

test('a task that names a definition does its work, and says no more than what is its own', async () => {
  const server = harness();
  const { body: definition } = await server.put(ONE, { ...GOOD, maxTurns: 3, queue: 'editors', requiresReview: true });
  const jobId = await madeJob(server, [{ taskId: 's', name: 'summarise', input: { n: 1 }, priority: 5 }]);
  const lease = (await runsOf(server, 'editors')).get('s')!;
  expect(lease.job).toMatchObject({ type: 'agent.task', priority: 5 });
  expect(lease.job.spec.args).toMatchObject([
    { taskId: 's', name: 'summarise', input: { n: 1 }, ...GOOD, maxTurns: 3, definitionVersion: definition.version },
  ]);
  expect((await shownJob(server, jobId)).tasks).toMatchObject([
    { ...GOOD, maxTurns: 3, requiresReview: true, definitionVersion: definition.version },
  ]);
  const { status, body } = await server.post(`${TASKS}/jobs`, {
    tasks: [{ taskId: 's', name: 'summarise', maxTurns: 9 }],
  });
  expect([status, body.error.details.field]).toEqual([400, 'tasks[0].maxTurns']);
});

test('names without a definition are all told, before anything is stored', async () => {
  const { post, stored } = harness();
  const before = await stored();
  const { status, body } = await post(`${TASKS}/jobs`, {
    tasks: [{ taskId: 'a', name: 'nothing' }, aTask('b'), { taskId: 'c', name: 'no.thing' }],
  });
  expect(status).toBe(400);
  expect(body.error.details.errors.map(({ field }: { field: string }) => field)).toEqual([
    'tasks[0].name',
    'tasks[2].name',
  ]);
  expect(await stored()).toBe(before);
});

test('a running job keeps the version that it began with, also for tasks that are added, and after a removal', async () => {
  const server = harness();
  const { body: old } = await server.put(ONE, { ...GOOD, timeoutMs: 5_000 });
  const summary = (taskId: string, more: object = {}) => ({ taskId, name: 'summarise', ...more });
  const jobId = await madeJob(server, [summary('one'), aTask('own')]);
  const { body: changed } = await server.put(ONE, { description: 'Another way.', tag: 'poet', queue: 'poets' });
  const adding = `${TASKS}/jobs/${jobId}/tasks`;
  await server.clock.advance(1);
  expect((await server.post(adding, { tasks: [summary('two')] })).status).toBe(200);
  const fresh = await madeJob(server, [summary('one')]);
  await server.delete(ONE);
  await server.clock.advance(1);
  expect((await server.post(adding, { tasks: [summary('three')] })).status).toBe(200);
  expect((await server.post(adding, { tasks: [{ taskId: 'four', name: 'other' }] })).status).toBe(400);
  const { tasks } = await shownJob(server, jobId);
  const mine = tasks.filter(({ name }: { name: string }) => name === 'summarise');
  expect(mine.map(({ taskId }: { taskId: string }) => taskId)).toEqual(['one', 'two', 'three']);
  for (const task of mine)
    expect(task).toMatchObject({ ...GOOD, timeoutMs: 5_000, queue: 'agent-tasks', definitionVersion: old.version });
  expect((await shownJob(server, fresh)).tasks).toMatchObject([
    { tag: 'poet', queue: 'poets', definitionVersion: changed.version },
  ]);
});

test('a definition may be of a type of its own', async () => {
  const server = harness();
  expect((await server.put(`${LIST}/mail`, { type: 'mail.send' })).status).toBe(200);
  await madeJob(server, [{ taskId: 'm', name: 'mail', input: { to: 'a' } }]);
  const lease = (await runsOf(server, 'default')).get('m')!;
  expect(lease.job.type).toBe('mail.send');
  await complete(server, lease);
  expect(await runsOf(server)).toEqual(new Map());
  await madeJob(server, [aTask('x')]);
  await runOf(server, 'x');
});
