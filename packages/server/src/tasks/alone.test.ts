import { engine, type Principal, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type AppOptions, createTasksApp } from '../app.ts';
import { aTask } from '../testing/tasks.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The producer API without the server around it, as a function in the cloud runs it. */
function alone(options: Partial<AppOptions> = {}) {
  const clock = new TestClock();
  const waybill = engine({ store: memoryStore({ clock }), logger: silentLogger, maintenance: false });
  onTestFinished(() => waybill.close());
  const app = createTasksApp({ waybill, clock, version: '0.0.0-test', logger: silentLogger, ...options });
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const sent = {
      method,
      headers: { ...(body && JSON_TYPE), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    };
    const response = await app.request(path, sent);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  return { app, waybill, call };
}

test('its routes stand at the root, and nothing else is there', async () => {
  const { app, call } = alone();
  const { status, body } = await call('POST', '/jobs', { tasks: [aTask('a')] });
  expect(status).toBe(201);
  expect((await call('GET', `/jobs/${body.jobId}`)).body.tasks).toHaveLength(1);
  expect((await call('GET', '/health')).status).toBe(200);
  const lost = await call('GET', '/ojs/v1/jobs');
  expect([lost.status, lost.body.error.hint]).toEqual([404, 'The interface begins at /jobs and /task-definitions.']);
  const routes = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
  expect(routes.sort()).toEqual([
    'DELETE /task-definitions/:name',
    ...[
      'GET /health',
      'GET /jobs',
      'GET /jobs/:jobId',
      'GET /jobs/:jobId/tasks/:taskId/events',
      'GET /ojs/errors/:code',
    ],
    ...['GET /ready', 'GET /task-definitions', 'GET /task-definitions/:name', 'POST /jobs', 'POST /jobs/:jobId/cancel'],
    ...['POST /jobs/:jobId/resume', 'POST /jobs/:jobId/tasks', 'POST /jobs/:jobId/tasks/:taskId/approve'],
    ...['POST /jobs/:jobId/tasks/:taskId/request-revision', 'POST /jobs/:jobId/tasks/:taskId/retry'],
    'PUT /task-definitions/:name',
  ]);
});

test('with keys a caller without one is refused with 401, before anything is read', async () => {
  const { waybill, call } = alone({ auth: {} });
  const { secret } = await waybill.keys!.create({ name: 'producer', scopes: ['enqueue'] });
  expect((await call('POST', '/jobs', { tasks: [aTask('a')] })).status).toBe(401);
  expect((await call('POST', '/jobs', { tasks: [aTask('a')] }, { 'X-API-Key': 'no' })).status).toBe(401);
  expect((await call('POST', '/jobs', { tasks: [aTask('a')] }, { 'X-API-Key': secret })).status).toBe(201);
});

test('a misspelt option is refused: without auth everybody may call', () => {
  expect(() => alone({ atuh: {} } as never)).toThrow(/createTasksApp\(\) has no option 'atuh'/);
});

const PRINCIPALS: Record<string, Omit<Principal, 'id'>> = {
  producer: { tenant: 'acme', scopes: ['enqueue'] },
  reader: { tenant: 'acme', scopes: ['read'] },
  admin: { tenant: 'acme', scopes: ['admin'] },
  narrow: { tenant: 'acme', scopes: ['enqueue', 'read'], queues: ['mine'] },
  stranger: { tenant: 'other', scopes: ['admin'] },
};

/** Callers by name, so that each test says who asks. */
function asked() {
  const { call, waybill } = alone({
    auth: (asking) => ({ id: asking.header('X-Who') ?? 'reader', ...PRINCIPALS[asking.header('X-Who') ?? 'reader']! }),
  });
  return {
    waybill,
    as: (who: string) => (method: string, path: string, body?: object) => call(method, path, body, { 'X-Who': who }),
  };
}

test('who makes jobs need not read them, and may add to them and cancel them', async () => {
  const { as } = asked();
  const producer = as('producer');
  expect((await as('reader')('POST', '/jobs', { tasks: [aTask('a')] })).status).toBe(403);
  const { status, body } = await producer('POST', '/jobs', { tasks: [aTask('a')] });
  expect(status).toBe(201);
  const one = `/jobs/${body.jobId}`;
  const added = await producer('POST', `${one}/tasks`, { tasks: [aTask('b', { dependsOn: ['a'] })] });
  expect([added.status, added.body.totalTasksNow]).toEqual([200, 2]);
  for (const [method, path] of [
    ...[['GET', '/jobs'] as const, ['GET', one] as const, ['GET', '/task-definitions'] as const],
    ...[['GET', `${one}/tasks/a/events`] as const, ['POST', `${one}/resume`] as const],
    ...[['POST', `${one}/tasks/a/retry`] as const, ['POST', `${one}/tasks/a/approve`] as const],
  ])
    expect([path, (await producer(method, path)).status]).toEqual([path, 403]);
  expect((await as('reader')('GET', one)).body.totalTasks).toBe(2);
  expect((await as('stranger')('GET', one)).status).toBe(404);
  expect((await as('stranger')('POST', `${one}/tasks`, { tasks: [aTask('c')] })).status).toBe(404);
  expect((await producer('POST', `${one}/cancel`)).status).toBe(200);
});

test('who tries to repair or to decide without the right is written down', async () => {
  const { as, waybill } = asked();
  const { body } = await as('producer')('POST', '/jobs', { tasks: [aTask('a', { requiresReview: true })] });
  const one = `/jobs/${body.jobId}`;
  await as('reader')('POST', `${one}/resume`);
  await as('reader')('POST', `${one}/tasks/a/approve`);
  await as('reader')('POST', `${one}/tasks/a/request-revision`, { feedback: 'No.' });
  await as('reader')('PUT', '/task-definitions/work', { type: 'a.b' });
  const { events } = await waybill.events.read({ filter: { tenant: 'acme', types: ['audit.recorded'] }, limit: 10 });
  expect(events.map(({ data }) => [data['action'], data['outcome']])).toEqual([
    ['workflows.resume', 'forbidden'],
    ['workflows.approve', 'forbidden'],
    ['workflows.requestRevision', 'forbidden'],
    ['task-definitions.change', 'forbidden'],
  ]);
});

test('definitions are changed by administrators, read by readers and used by producers, of one tenant', async () => {
  const { as } = asked();
  const definition = { description: 'Work.', tag: 'worker' };
  const path = '/task-definitions/work';
  for (const who of ['producer', 'reader', 'narrow']) expect((await as(who)('PUT', path, definition)).status).toBe(403);
  expect((await as('admin')('PUT', path, definition)).status).toBe(200);
  expect((await as('reader')('GET', path)).status).toBe(200);
  for (const who of ['producer', 'reader']) expect((await as(who)('DELETE', path)).status).toBe(403);
  const tasks = [{ taskId: 'a', name: 'work' }];
  expect((await as('producer')('POST', '/jobs', { tasks })).status).toBe(201);
  expect((await as('stranger')('GET', path)).status).toBe(404);
  expect((await as('stranger')('GET', '/task-definitions')).body.definitions).toEqual([]);
  expect((await as('stranger')('POST', '/jobs', { tasks })).status).toBe(400);
});

test('to a caller with one queue, what is in others does not exist', async () => {
  const { as } = asked();
  const [admin, narrow] = [as('admin'), as('narrow')];
  await admin('PUT', '/task-definitions/mine', { type: 'a.b', queue: 'mine' });
  await admin('PUT', '/task-definitions/theirs', { type: 'a.b', queue: 'theirs' });
  expect((await narrow('GET', '/task-definitions')).body.definitions).toMatchObject([{ name: 'mine' }]);
  expect((await narrow('GET', '/task-definitions/theirs')).status).toBe(404);
  expect((await narrow('POST', '/jobs', { tasks: [{ taskId: 'a', name: 'theirs' }] })).status).toBe(400);
  expect(
    (await narrow('POST', '/jobs', { tasks: [{ taskId: 'a', name: 'x', type: 'a.b', queue: 'theirs' }] })).status,
  ).toBe(403);
  const { body: mine } = await narrow('POST', '/jobs', { tasks: [{ taskId: 'a', name: 'mine' }] });
  const { body: theirs } = await admin('POST', '/jobs', { tasks: [{ taskId: 'a', name: 'theirs' }] });
  expect((await narrow('GET', '/jobs')).body.jobs).toMatchObject([{ jobId: mine.jobId, totalTasks: 1 }]);
  expect((await narrow('GET', `/jobs/${theirs.jobId}`)).status).toBe(404);
  const added = await narrow('POST', `/jobs/${theirs.jobId}/tasks`, {
    tasks: [{ taskId: 'b', name: 'mine', dependsOn: ['zzz'] }],
  });
  expect(added.status).toBe(404);
});
