import { expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';

const job = (type: string, options: object = {}) => ({ type, args: [], options: { queue: 'q', ...options } });
const ONCE = { retry: { max_attempts: 1 } };

/** Long enough for every node that may start to be dispatched. */
const SETTLED_MS = 2_000;

async function created({ post }: Harness, request: object) {
  const { status, headers, body } = await post('/ojs/v1/workflows', request);
  expect(status).toBe(201);
  expect(headers.get('location')).toBe(`/ojs/v1/workflows/${body.workflow.id}`);
  return body.workflow;
}

/** Takes the next job of the queue, says what became of it, and lets the workflow go on. */
async function worked(server: Harness, outcome: { result?: unknown; error?: object } = {}) {
  const fetched = await server.fetched({ queues: ['q'] });
  const run = { job_id: fetched.id, lease_token: fetched.lease_token };
  const { error, result = null } = outcome;
  const answer = error
    ? await server.post('/ojs/v1/workers/nack', { ...run, error })
    : await server.post('/ojs/v1/workers/ack', { ...run, result });
  expect(answer.status).toBe(200);
  await server.clock.advance(SETTLED_MS);
  return fetched;
}

const idle = async ({ post }: Harness) =>
  (await post('/ojs/v1/workers/fetch', { queues: ['q'] })).body.jobs.length === 0;

test('a chain runs step by step and hands results on', async () => {
  const server = harness();
  const steps = [job('a.one'), job('a.two')];
  const { id, steps: shown, ...workflow } = await created(server, { type: 'chain', name: 'pair', steps });
  expect(shown).toHaveLength(2);
  expect(workflow).toEqual({
    type: 'chain',
    name: 'pair',
    state: 'running',
    failure_policy: 'stop',
    created_at: '2030-01-01T00:00:00.000Z',
    steps_total: 2,
    steps_completed: 0,
    metadata: {
      job_count: 2,
      completed_count: 0,
      failed_count: 0,
      cancelled_count: 0,
      created_at: '2030-01-01T00:00:00.000Z',
    },
  });
  const first = await worked(server, { result: { n: 42 } });
  expect(first).toMatchObject({ type: 'a.one', workflow_id: id, node: '0' });
  expect(first).not.toHaveProperty('parent_results');
  expect(await worked(server)).toMatchObject({ type: 'a.two', node: '1', parent_results: [{ n: 42 }] });
  const ended = (await server.get(`/ojs/v1/workflows/${id}`)).body.workflow;
  expect(ended).toMatchObject({ state: 'completed', steps_total: 2, steps_completed: 2 });
  expect(ended.metadata).toMatchObject({ completed_count: 2, completed_at: ended.completed_at });
});

test('a chain stops at a failure, and resuming it goes on from there', async () => {
  const server = harness();
  const { id } = await created(server, { type: 'chain', steps: [job('a.one', ONCE), job('a.two')] });
  await worked(server, { error: { code: 'broken', message: 'no' } });
  expect(await idle(server)).toBe(true);
  expect((await server.get(`/ojs/v1/workflows/${id}`)).body.workflow).toMatchObject({
    state: 'failed',
    steps_completed: 0,
    metadata: { failed_count: 1, cancelled_count: 1 },
  });
  const resumed = await server.post(`/ojs/v1/workflows/${id}/resume`);
  expect([resumed.status, resumed.body.workflow.state]).toEqual([200, 'running']);
  expect((await worked(server)).type).toBe('a.one');
  expect((await worked(server)).type).toBe('a.two');
  expect((await server.get(`/ojs/v1/workflows/${id}`)).body.workflow.state).toBe('completed');
  expect((await server.post(`/ojs/v1/workflows/${id}/resume`)).status).toBe(409);
});

test('only the nodes that a call names are resumed', async () => {
  const server = harness();
  const nodes = [
    { id: 'a', ...job('a.one', ONCE) },
    { id: 'b', ...job('a.two', ONCE) },
    { id: 'behind', depends_on: ['a'], ...job('a.three') },
  ];
  const { id } = await created(server, { nodes });
  await worked(server, { error: { code: 'broken', message: 'no' } });
  await worked(server, { error: { code: 'broken', message: 'no' } });
  const resume = (body: object) => server.post(`/ojs/v1/workflows/${id}/resume`, body);
  expect((await resume({ nodes: ['c'] })).status).toBe(404);
  expect((await resume({ nodes: ['behind'] })).status).toBe(409);
  for (const body of [{ nodes: [] }, { nodes: 'a' }, { node: ['a'] }]) expect((await resume(body)).status).toBe(400);
  expect((await resume({ nodes: ['a'] })).body.workflow).toMatchObject({ state: 'running' });
  expect((await worked(server)).type).toBe('a.one');
  expect((await worked(server)).type).toBe('a.three');
  expect(await idle(server)).toBe(true);
  expect((await server.get(`/ojs/v1/workflows/${id}`)).body.workflow.state).toBe('failed');
});

test('a group counts its jobs and fails when one of them did', async () => {
  const server = harness();
  const { id, ...workflow } = await created(server, { type: 'group', jobs: [job('a.b'), job('a.b', ONCE)] });
  expect(workflow).toMatchObject({ jobs_total: 2, jobs_completed: 0, failure_policy: 'continue' });
  await worked(server);
  await worked(server, { error: { code: 'broken', message: 'no' } });
  expect((await server.get(`/ojs/v1/workflows/${id}`)).body.workflow).toMatchObject({
    state: 'failed',
    jobs_total: 2,
    jobs_completed: 1,
  });
});

test('a batch calls back', async () => {
  const server = harness();
  const callback = (type: string) => ({ type, args: [type], options: { queue: 'callbacks' } });
  const callbacks = { on_success: callback('cb.success'), on_complete: callback('cb.complete') };
  const workflow = await created(server, { type: 'batch', jobs: [job('a.b')], callbacks });
  expect(workflow.jobs_total).toBe(1);
  await worked(server);
  const { body } = await server.post('/ojs/v1/workers/fetch', { queues: ['callbacks'], count: 5 });
  expect(body.jobs.map(({ type }: { type: string }) => type).sort()).toEqual(['cb.complete', 'cb.success']);
});

test('a graph joins its branches, and takes new nodes while it runs', async () => {
  const server = harness();
  const nodes = [
    { id: 'left', ...job('a.left') },
    { id: 'right', ...job('a.right') },
    { id: 'join', depends_on: ['left', 'right'], job: job('a.join') },
  ];
  const { id, type } = await created(server, { nodes });
  expect(type).toBe('dag');
  const late = [{ id: 'late', depends_on: ['join'], ...job('a.late') }];
  const added = await server.post(`/ojs/v1/workflows/${id}/nodes`, { nodes: late });
  expect([added.status, added.body.workflow.jobs_total]).toEqual([200, 4]);
  await worked(server, { result: 'l' });
  await worked(server, { result: 'r' });
  expect(await worked(server)).toMatchObject({ node: 'join', parent_results: ['l', 'r'] });
  expect((await worked(server)).node).toBe('late');
  expect((await server.get(`/ojs/v1/workflows/${id}`)).body.workflow.state).toBe('completed');
  const closed = await server.post(`/ojs/v1/workflows/${id}/nodes`, { nodes: [{ id: 'more', ...job('a.b') }] });
  expect([closed.status, closed.body.error.code]).toEqual([409, 'conflict']);
});

test('a cancelled workflow starts nothing more', async () => {
  const server = harness();
  const { id } = await created(server, { type: 'chain', steps: [job('a.one'), job('a.two')] });
  await worked(server);
  const { status, body } = await server.delete(`/ojs/v1/workflows/${id}`);
  expect([status, body.workflow.state, body.workflow.metadata.cancelled_count]).toEqual([200, 'cancelled', 1]);
  await server.clock.advance(SETTLED_MS);
  expect(await idle(server)).toBe(true);
});

test('workflows and their jobs are listed newest first, page by page', async () => {
  const server = harness();
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    ids.push((await created(server, { type: 'group', name, jobs: [job('a.b'), job('a.b')] })).id);
    await server.clock.advance(1);
  }
  await server.delete(`/ojs/v1/workflows/${ids[0]}`);
  const idsOf = async (query: string) =>
    (await server.get(`/ojs/v1/workflows${query}`)).body.workflows.map((workflow: { id: string }) => workflow.id);
  expect(await idsOf('')).toEqual([...ids].reverse());
  expect(await idsOf('?state=cancelled')).toEqual([ids[0]]);
  const { pagination } = (await server.get('/ojs/v1/workflows?limit=2')).body;
  expect(pagination).toMatchObject({ limit: 2, has_more: true });
  expect(await idsOf(`?limit=2&cursor=${pagination.cursor}`)).toEqual([ids[0]]);
  const page = (await server.get(`/ojs/v1/workflows/${ids[1]}/jobs?limit=1`)).body;
  expect(page.jobs).toMatchObject([{ workflow_id: ids[1] }]);
  const rest = await server.get(`/ojs/v1/workflows/${ids[1]}/jobs?cursor=${page.pagination.cursor}`);
  expect(rest.body.jobs).toHaveLength(1);
});
