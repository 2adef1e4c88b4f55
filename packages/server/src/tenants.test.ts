import type { Lease, Waybill } from '@waybill/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RECORD_KINDS } from './records/kinds.ts';
import type { RecordKind } from './records/record-kind.ts';
import { type Harness, harness, MEDIA_TYPE } from './testing/harness.ts';

const SECRET = 'the-secret-of-a';
const JOB = { type: 'test.job', args: [SECRET], options: { rate_limit: { key: 'api', concurrency: 9 } } };
const CRON = { name: 'nightly', expression: '@daily', job_template: { type: 'test.job', args: [] } };
const RULE = { concurrency: 5 };

/** Everything that a route can be asked about, of the tenant `a`. */
interface World {
  job: string;
  pending: string;
  dead: string;
  flow: string;
  /** A job of tasks: one waits, one has failed and one is in review. */
  tasks: string;
  key: string;
  lease: Lease;
  /** The id of an open question of the leased job. */
  question: string;
}

interface Asked {
  path: string;
  body?: unknown;
}

interface Route {
  ask(world: World): Asked;
  /** What `a` is answered. @defaultValue 200 */
  own?: number;
  /** What `b` is answered about it; 200 and 201 must show nothing of `a`. */
  other: number;
}

const seen = (path: string, other: number, body?: unknown, own?: number): Route => ({
  ...{ ask: () => ({ path, body }), other, ...(own !== undefined && { own }) },
});
const about = (ask: Route['ask']): Route => ({ ask, other: 404 });
/** The workflow of `a` has no such node. */
const decides = (verb: string, body: object): Route => ({
  ...about(({ flow }) => ({ path: `/ojs/v1/workflows/${flow}/${verb}`, body })),
  own: 404,
});
const aTask = (taskId: string, more: object = {}) => ({
  taskId,
  name: SECRET,
  type: 'test.task',
  queue: 'tasks',
  ...more,
});
const ofTasks = (rest: string, body?: unknown) => about(({ tasks }) => ({ path: `/tasks/jobs/${tasks}${rest}`, body }));
const held = ({ lease }: World) => ({ job_id: lease.job.id, lease_token: lease.token });

/** By method and path: the test below holds this to the routes of the app, so that none is forgotten. */
const ROUTES: Record<string, Route> = {
  'GET /waybill/v1/tenants': seen('/waybill/v1/tenants', 200),
  'GET /waybill/v1/tenants/:tenant': seen('/waybill/v1/tenants/a', 404),
  'PUT /waybill/v1/tenants/:tenant/limits': seen('/waybill/v1/tenants/a/limits', 404, { concurrency: 99 }),
  'POST /ojs/v1/jobs': seen('/ojs/v1/jobs', 201, { type: 'test.job', args: [] }, 201),
  'POST /ojs/v1/jobs/batch': seen('/ojs/v1/jobs/batch', 201, { jobs: [{ type: 'test.job', args: [] }] }, 201),
  'GET /ojs/v1/jobs': seen('/ojs/v1/jobs', 200),
  'GET /ojs/v1/jobs/:id': about(({ job }) => ({ path: `/ojs/v1/jobs/${job}` })),
  'DELETE /ojs/v1/jobs/:id': about(({ job }) => ({ path: `/ojs/v1/jobs/${job}` })),
  'POST /ojs/v1/jobs/:id/activate': about(({ pending }) => ({ path: `/ojs/v1/jobs/${pending}/activate` })),
  'POST /ojs/v1/jobs/:id/retry': about(({ dead }) => ({ path: `/ojs/v1/jobs/${dead}/retry` })),
  'GET /ojs/v1/jobs/:id/explain': about(({ job }) => ({ path: `/ojs/v1/jobs/${job}/explain` })),
  'GET /ojs/v1/jobs/:id/progress': about(({ job }) => ({ path: `/ojs/v1/jobs/${job}/progress` })),
  'PUT /ojs/v1/jobs/:id/progress': about(({ lease: { job, token } }) => ({
    ...{ path: `/ojs/v1/jobs/${job.id}/progress`, body: { progress: 0.5, lease_token: token } },
  })),
  'GET /ojs/v1/jobs/:id/progress/stream': about(({ job }) => ({ path: `/ojs/v1/jobs/${job}/progress/stream` })),
  'GET /ojs/v1/jobs/:id/journal': about(({ job }) => ({ path: `/ojs/v1/jobs/${job}/journal` })),
  'POST /ojs/v1/jobs/:id/journal': about(({ lease: { job, token } }) => ({
    path: `/ojs/v1/jobs/${job.id}/journal`,
    body: { entries: [{ sequence: 1, type: 'note', data: 'x' }], lease_token: token },
  })),
  'POST /waybill/v1/jobs/:id/spend': about(({ lease: { job, token } }) => ({
    ...{ path: `/waybill/v1/jobs/${job.id}/spend`, body: { amounts: { pages: 1 }, lease_token: token } },
  })),
  'GET /health/checks': seen('/health/checks', 200),
  'GET /health/jobs/:id': about(({ job }) => ({ path: `/health/jobs/${job}` })),
  'GET /waybill/v1/budgets': seen('/waybill/v1/budgets', 200),
  'PUT /waybill/v1/budgets': seen('/waybill/v1/budgets', 200, { unit: 'pages', period: 'day', limit: 99 }),
  'GET /waybill/v1/budgets/:id': seen('/waybill/v1/budgets/pages:day:the-secret-of-a', 404),
  'DELETE /waybill/v1/budgets/:id': seen('/waybill/v1/budgets/pages:day:the-secret-of-a', 404),
  'POST /ojs/v1/workers/fetch': seen('/ojs/v1/workers/fetch', 200, { queues: ['default'], count: 10 }),
  'POST /waybill/v1/questions': about((world) => ({
    path: '/waybill/v1/questions',
    body: { ...held(world), key: 'two', text: 'Go on?' },
  })),
  'GET /waybill/v1/questions': seen('/waybill/v1/questions', 200),
  'GET /waybill/v1/questions/:id': about(({ question }) => ({ path: `/waybill/v1/questions/${question}` })),
  'POST /waybill/v1/questions/:id/answer': about(({ question }) => ({
    path: `/waybill/v1/questions/${question}/answer`,
    body: { choice: 'yes' },
  })),
  'POST /ojs/v1/workers/ack': about((world) => ({ path: '/ojs/v1/workers/ack', body: held(world) })),
  'POST /ojs/v1/workers/nack': about((world) => ({ path: '/ojs/v1/workers/nack', body: held(world) })),
  'POST /ojs/v1/workers/heartbeat': {
    ask: ({ lease }) => ({
      ...{ path: '/ojs/v1/workers/heartbeat', body: { worker_id: 'b-worker', active_jobs: [lease.job.id] } },
    }),
    other: 200,
  },
  'GET /ojs/v1/workers': seen('/ojs/v1/workers', 200),
  'POST /ojs/v1/workers/:id/directive': seen('/ojs/v1/workers/a-worker/directive', 404, { directive: 'quiet' }),
  'GET /ojs/v1/dead-letter': seen('/ojs/v1/dead-letter', 200),
  'DELETE /ojs/v1/dead-letter': seen('/ojs/v1/dead-letter?confirm=true', 200),
  'POST /ojs/v1/dead-letter/retry': seen('/ojs/v1/dead-letter/retry', 200, { confirm: true }),
  'GET /ojs/v1/dead-letter/stats': seen('/ojs/v1/dead-letter/stats', 200),
  'GET /ojs/v1/dead-letter/:id': about(({ dead }) => ({ path: `/ojs/v1/dead-letter/${dead}` })),
  'DELETE /ojs/v1/dead-letter/:id': about(({ dead }) => ({ path: `/ojs/v1/dead-letter/${dead}` })),
  'POST /ojs/v1/dead-letter/:id/retry': about(({ dead }) => ({ path: `/ojs/v1/dead-letter/${dead}/retry` })),
  'POST /ojs/v1/cron': seen('/ojs/v1/cron', 201, { ...CRON, expression: '@hourly' }, 201),
  'GET /ojs/v1/cron': seen('/ojs/v1/cron', 200),
  'GET /ojs/v1/cron/:name': seen('/ojs/v1/cron/nightly', 404),
  'DELETE /ojs/v1/cron/:name': seen('/ojs/v1/cron/nightly', 404),
  'PATCH /ojs/v1/cron/:name': seen('/ojs/v1/cron/nightly', 404, { enabled: false }),
  'POST /ojs/v1/cron/:name/pause': seen('/ojs/v1/cron/nightly/pause', 404),
  'POST /ojs/v1/cron/:name/resume': seen('/ojs/v1/cron/nightly/resume', 404),
  'POST /ojs/v1/workflows': seen('/ojs/v1/workflows', 201, { type: 'chain', steps: [CRON.job_template] }, 201),
  'GET /ojs/v1/workflows': seen('/ojs/v1/workflows', 200),
  'GET /ojs/v1/workflows/:id': about(({ flow }) => ({ path: `/ojs/v1/workflows/${flow}` })),
  'DELETE /ojs/v1/workflows/:id': about(({ flow }) => ({ path: `/ojs/v1/workflows/${flow}` })),
  'GET /ojs/v1/workflows/:id/jobs': about(({ flow }) => ({ path: `/ojs/v1/workflows/${flow}/jobs` })),
  'POST /ojs/v1/workflows/:id/nodes': about(({ flow }) => ({
    ...{ path: `/ojs/v1/workflows/${flow}/nodes`, body: { nodes: [{ id: 'more', ...CRON.job_template }] } },
  })),
  'POST /ojs/v1/workflows/:id/signal': decides('signal', { name: 'paid', data: 1 }),
  'POST /ojs/v1/workflows/:id/approve': decides('approve', { node: 'draft' }),
  'POST /ojs/v1/workflows/:id/request-revision': decides('request-revision', { node: 'draft', feedback: 'Shorter.' }),
  'POST /ojs/v1/workflows/:id/resume': about(({ flow }) => ({ path: `/ojs/v1/workflows/${flow}/resume` })),
  'POST /tasks/jobs': seen('/tasks/jobs', 201, { tasks: [aTask('a', { name: 'own' })] }, 201),
  'GET /tasks/jobs': seen('/tasks/jobs', 200),
  'GET /tasks/jobs/:jobId': ofTasks(''),
  'POST /tasks/jobs/:jobId/cancel': ofTasks('/cancel'),
  'POST /tasks/jobs/:jobId/resume': ofTasks('/resume'),
  'POST /tasks/jobs/:jobId/tasks': ofTasks('/tasks', { tasks: [aTask('more')] }),
  'GET /tasks/jobs/:jobId/tasks/:taskId/events': ofTasks('/tasks/waits/events'),
  'POST /tasks/jobs/:jobId/tasks/:taskId/retry': ofTasks('/tasks/failed/retry'),
  'POST /tasks/jobs/:jobId/tasks/:taskId/approve': ofTasks('/tasks/reviewed/approve'),
  'POST /tasks/jobs/:jobId/tasks/:taskId/request-revision': ofTasks('/tasks/reviewed/request-revision', {
    feedback: 'No.',
  }),
  'GET /tasks/task-definitions': seen('/tasks/task-definitions', 200),
  'GET /tasks/task-definitions/:name': seen('/tasks/task-definitions/of-a', 404),
  'PUT /tasks/task-definitions/:name': seen('/tasks/task-definitions/of-a', 200, { type: 'test.task' }),
  'DELETE /tasks/task-definitions/:name': seen('/tasks/task-definitions/of-a', 404),
  'GET /ojs/v1/queues': seen('/ojs/v1/queues', 200),
  'GET /ojs/v1/queues/:name': seen('/ojs/v1/queues/default', 200),
  'GET /ojs/v1/queues/:name/stats': seen('/ojs/v1/queues/default/stats', 200),
  'POST /ojs/v1/queues/:name/pause': seen('/ojs/v1/queues/default/pause', 200),
  'POST /ojs/v1/queues/:name/resume': seen('/ojs/v1/queues/default/resume', 200),
  'PUT /ojs/v1/queues/:name/keep': seen('/ojs/v1/queues/default/keep', 200, { keep: 'none' }),
  'PUT /ojs/v1/queues/:name/limit': seen('/ojs/v1/queues/default/limit', 200, RULE),
  'DELETE /ojs/v1/queues/:name/limit': seen('/ojs/v1/queues/default/limit', 200),
  'GET /ojs/v1/rate-limits/:key': seen('/ojs/v1/rate-limits/api', 404),
  'PUT /ojs/v1/rate-limits/:key': seen('/ojs/v1/rate-limits/api', 200, RULE),
  'GET /ojs/v1/events': seen('/ojs/v1/events', 200),
  'POST /waybill/v1/keys': seen('/waybill/v1/keys', 201, { name: 'new', scopes: ['read'] }, 201),
  'GET /waybill/v1/keys': seen('/waybill/v1/keys', 200),
  'GET /waybill/v1/keys/:id': about(({ key }) => ({ path: `/waybill/v1/keys/${key}` })),
  'POST /waybill/v1/keys/:id/rotate': about(({ key }) => ({ path: `/waybill/v1/keys/${key}/rotate` })),
  'DELETE /waybill/v1/keys/:id': about(({ key }) => ({ path: `/waybill/v1/keys/${key}` })),
  // The numbers of the whole server: no single tenant is shown them.
  'GET /metrics': seen('/metrics', 403, undefined, 403),
  'GET /waybill/v1/audit': seen('/waybill/v1/audit', 200),
  ...Object.assign({}, ...RECORD_KINDS.map(routesOf)),
  'POST /waybill/v1/webhooks': seen('/waybill/v1/webhooks', 201, { url: 'https://example.com/' }, 201),
  'POST /waybill/v1/webhooks/:id/pause': seen('/waybill/v1/webhooks/of-a/pause', 404),
  'POST /waybill/v1/webhooks/:id/resume': seen('/waybill/v1/webhooks/of-a/resume', 404),
  'POST /waybill/v1/webhooks/:id/rotate-secret': seen('/waybill/v1/webhooks/of-a/rotate-secret', 404),
  // Nothing delivers in this process, and that is told only to those whose webhook it is.
  'POST /waybill/v1/webhooks/:id/test': seen('/waybill/v1/webhooks/of-a/test', 404, undefined, 422),
  'POST /waybill/v1/webhooks/:id/redeliver': seen('/waybill/v1/webhooks/of-a/redeliver', 404, { after: 'x' }, 422),
};

/** All kinds of records have the same routes. */
function routesOf({ plural, example }: RecordKind): Record<string, Route> {
  const path = `/waybill/v1/${plural}`;
  const one = `${path}/of-a`;
  return {
    [`GET ${path}`]: seen(path, 200),
    [`GET ${path}/:id`]: seen(one, 404),
    [`PUT ${path}/:id`]: seen(one, 201, example),
    [`DELETE ${path}/:id`]: seen(one, 404),
  };
}

/** Whether the server is well is asked without a tenant. */
const OPEN = ['/auth/session', '/ojs/manifest', '/ojs/errors/:code', '/ojs/v1/health', '/health', '/ready'];

async function makeWorld(waybill: Waybill): Promise<World> {
  const { jobs, budgets, crons, workflows, records, keys } = waybill;
  const at = { tenant: 'a' };
  const claimed = async () => {
    await jobs.enqueue(JOB, at);
    const [lease] = await jobs.claim({ ...at, queues: ['default'], workerId: 'a-worker' });
    return lease!;
  };
  const { job: doomed, token } = await claimed();
  const outcome = { kind: 'discarded', error: { code: SECRET, message: SECRET }, deadLetter: true } as const;
  await jobs.settle({ ...at, id: doomed.id, leaseToken: token, outcome });
  const lease = await claimed();
  await jobs.heartbeat({ ...at, workerId: 'a-worker', jobs: [] });
  const ask = { key: 'one', text: SECRET, choices: ['yes', 'no'] };
  const { id: question } = await jobs.ask({ ...at, id: lease.job.id, leaseToken: lease.token, ...ask });
  const { job } = await jobs.enqueue(JOB, at);
  const { job: pending } = await jobs.enqueue({ ...JOB, options: { pending: true } }, at);
  await crons.put({ ...CRON, description: SECRET }, at);
  const tasks = await makeTasks(waybill);
  const flow = await workflows.create({ type: 'chain', name: SECRET, steps: [JOB] }, at);
  for (const { kind, example } of RECORD_KINDS)
    await records!.put({ kind, id: 'of-a', value: { ...example, secret: SECRET }, expected: 0 }, at);
  await budgets.set({ unit: 'pages', period: 'day', limit: 10, key: SECRET }, at);
  const { key } = await keys!.create({ name: SECRET, scopes: ['enqueue'] }, at);
  return { job: job.id, pending: pending.id, dead: doomed.id, flow: flow.id, tasks, key: key.id, lease, question };
}

async function makeTasks({ jobs, workflows, records }: Waybill): Promise<string> {
  const at = { tenant: 'a' };
  const value = { type: 'test.task', queue: 'tasks', told: { description: SECRET } };
  await records!.put({ kind: 'task-definition', id: 'of-a', value, expected: 0 }, at);
  const node = (id: string, more: object = {}) => ({
    ...{ id, type: 'test.task', args: [{ taskId: id, name: SECRET }], options: { queue: 'tasks' }, ...more },
  });
  const nodes = [node('failed'), node('reviewed', { review: true }), node('waits', { depends_on: ['reviewed'] })];
  const { id } = await workflows.create({ nodes }, at);
  for (const { job, token: leaseToken } of await jobs.claim({ ...at, queues: ['tasks'], count: 2 })) {
    const error = { code: SECRET, message: SECRET };
    const outcome =
      job.node === 'failed'
        ? ({ kind: 'discarded', error } as const)
        : ({ kind: 'completed', result: SECRET } as const);
    await jobs.settle({ ...at, id: job.id, leaseToken, outcome });
  }
  return `job-${id}`;
}

/** All that is stored for a tenant, but for when its workers were last seen. */
async function storedFor(waybill: Waybill, tenant: string) {
  const { jobs, crons, queues, workflows, workers, events, limits, records, keys, questions, budgets } = waybill;
  const { items } = await jobs.list({ filter: { tenant }, limit: 1_000 });
  const log = (await events.read({ filter: { tenant }, limit: 1_000 })).events;
  const flows = (await workflows.list({ tenant, limit: 1_000 })).items;
  const lists = [await crons.list({ tenant }), await queues.list({ tenant }), await workers.list({ tenant })];
  const asked = await questions.list({ tenant });
  const ofKeys = [await keys!.list({ tenant }), await budgets.list({ tenant })];
  const own = [...RECORD_KINDS.map(({ kind }) => kind), 'task-definition'].map((kind) =>
    records!.list({ tenant, kind, limit: 1_000 }),
  );
  return JSON.stringify([
    items,
    log,
    flows,
    lists,
    ofKeys,
    asked,
    await Promise.all(own),
    await limits.get('api', { tenant }).catch(() => null),
  ]);
}

const send = ({ app }: Harness, key: string, { path, body }: Asked, tenant: string) =>
  app.request(path, {
    method: key.split(' ')[0]!,
    headers: { 'X-OJS-Tenant': tenant, ...(body !== undefined && { 'Content-Type': MEDIA_TYPE }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test('every route is here, and so none can be added without its case', () => {
  const routes = harness()
    .app.routes.filter(({ method, path }) => method !== 'ALL' && !OPEN.includes(path))
    .map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(ROUTES).sort()).toEqual(routes.sort());
});

describe.each(Object.entries(ROUTES))('%s', (key, { ask, own = 200, other }) => {
  test('answers its own tenant', async () => {
    const server = harness({ maintenance: false });
    const asked = ask(await makeWorld(server.waybill));
    const response = await send(server, key, asked, 'a');
    expect(response.status).toBe(own);
    await response.body?.cancel();
  });

  test('neither shows nor changes anything of another one', async () => {
    const server = harness({ maintenance: false });
    const world = await makeWorld(server.waybill);
    const before = await storedFor(server.waybill, 'a');
    const asked = ask(world);
    const response = await send(server, key, asked, 'b');
    const text = await response.text();
    expect([response.status, text.slice(0, 200)]).toEqual([other, expect.any(String)]);
    const sent = JSON.stringify(asked);
    const names = [SECRET, 'nightly', 'a-worker', ...Object.values(world).filter((id) => typeof id === 'string')];
    expect(names.filter((name) => !sent.includes(name) && text.includes(name))).toEqual([]);
    expect(await storedFor(server.waybill, 'a')).toBe(before);
  });

  test.each(['*', '~system', 'a b', 'x'.repeat(129)])('refuses the tenant %s, and changes nothing', async (tenant) => {
    const server = harness({ maintenance: false });
    const world = await makeWorld(server.waybill);
    const before = [await storedFor(server.waybill, 'a'), await server.stored()];
    const response = await send(server, key, ask(world), tenant);
    const { error } = (await response.json()) as { error: { code: string; details: object } };
    expect([response.status, error.code, error.details]).toMatchObject([
      ...[400, 'invalid_request', { field: 'X-OJS-Tenant' }],
    ]);
    expect([await storedFor(server.waybill, 'a'), await server.stored()]).toEqual(before);
  });
});

test.each(OPEN.map((path) => path.replace(':code', 'conflict')))('%s asks for no tenant', async (path) => {
  const { app } = harness();
  expect((await app.request(path, { headers: { 'X-OJS-Tenant': '*' } })).status).toBe(200);
});

test('without a tenant the one without a name is meant, in the log too', async () => {
  const server = harness();
  await makeWorld(server.waybill);
  const { id } = await server.enqueued();
  expect((await server.get('/ojs/v1/jobs')).body.jobs).toMatchObject([{ id, meta: {} }]);
  expect((await server.get('/ojs/v1/events')).body.events).toMatchObject([{ subject: id }]);
  expect((await server.get('/ojs/v1/jobs', { 'X-OJS-Tenant': '' })).body.jobs).toHaveLength(1);
});

test('a stream shows the events of one tenant', async () => {
  const { app, waybill } = harness();
  await makeWorld(waybill);
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const headers = { Accept: 'text/event-stream', 'X-OJS-Tenant': 'b' };
  const { body } = await app.request('/ojs/v1/events', { headers, signal: leaving.signal });
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] }, { tenant: 'b' });
  const reader = body!.getReader();
  let text = '';
  while (!text.includes('data:')) text += new TextDecoder().decode((await reader.read()).value);
  expect(text).toContain(`"subject":"${job.id}"`);
  expect(text).not.toContain(SECRET);
  await reader.cancel();
});

test('the tenant of a job is told in its meta, as the specification’s extension has it', async () => {
  const server = harness();
  const acme = { 'X-OJS-Tenant': 'acme' };
  const { body } = await server.post('/ojs/v1/jobs', { type: 'test.job', args: [], meta: { a: 1 } }, acme);
  const meta = { a: 1, tenant_id: 'acme' };
  expect(body.job.meta).toEqual(meta);
  expect((await server.get(`/ojs/v1/jobs/${body.job.id}`, acme)).body.job.meta).toEqual(meta);
  const batch = await server.post('/ojs/v1/jobs/batch', { jobs: [{ type: 'test.job', args: [] }] }, acme);
  expect(batch.body.jobs).toMatchObject([{ meta: { tenant_id: 'acme' } }]);
  const fetched = await server.post('/ojs/v1/workers/fetch', { queues: ['default'] }, acme);
  expect(fetched.body.jobs).toMatchObject([{ id: body.job.id, meta }]);
  // Kept as it was sent: what is shown is no part of it.
  expect((await server.waybill.jobs.get(body.job.id, { tenant: 'acme' })).spec.meta).toEqual({ a: 1 });
});
