import { expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';

const step = (id: string, ...depends_on: string[]) => ({ id, type: `step.${id}`, args: [{ id }], depends_on });

/** Settles the next job of the queue. */
async function work({ fetched, post, clock }: Harness, body: object, verb: 'ack' | 'nack' = 'ack'): Promise<string> {
  const { id, lease_token, type } = await fetched({ queues: ['mails'] });
  expect((await post(`/ojs/v1/workers/${verb}`, { job_id: id, lease_token, ...body })).status).toBe(200);
  await clock.advance(2_000);
  return type;
}

const MERGE = {
  name: 'onboarding',
  steps: [step('welcome'), step('profile'), step('confirm', 'welcome', 'profile')],
  options: { queue: 'mails' },
};

test('C4: steps with ids are a graph, without a type and with options for all of them', async () => {
  const server = harness();
  const { status, body } = await server.post('/ojs/v1/workflows', MERGE);
  expect([status, body.workflow.type, body.workflow.state]).toEqual([201, 'dag', 'running']);
  expect(body.workflow.steps).toMatchObject([
    { id: 'welcome', type: 'step.welcome', state: 'available', depends_on: [] },
    { id: 'profile', type: 'step.profile', state: 'available', depends_on: [] },
    { id: 'confirm', type: 'step.confirm', state: 'pending', depends_on: ['welcome', 'profile'] },
  ]);
  const done = [await work(server, { result: { n: 1 } }), await work(server, { result: { n: 2 } })];
  expect(done.sort()).toEqual(['step.profile', 'step.welcome']);
  expect(await work(server, { result: 'all' })).toBe('step.confirm');
  expect((await server.get(`/ojs/v1/workflows/${body.workflow.id}`)).body.workflow.state).toBe('completed');
});

test('C4: an option of a step beats that of its workflow, wherever it stands', async () => {
  const { post, get } = harness();
  const steps = [
    { ...step('a'), options: { priority: 5 } },
    { ...step('b'), queue: 'own' },
  ];
  const { body } = await post('/ojs/v1/workflows', { steps, options: { queue: 'mails', priority: 1 } });
  const { jobs } = (await get(`/ojs/v1/workflows/${body.workflow.id}/jobs`)).body;
  expect(jobs.reverse()).toMatchObject([
    { queue: 'mails', priority: 5 },
    { queue: 'own', priority: 1 },
  ]);
});

test('C4: steps that name no type of workflow, no id, or a step that is not there are refused', async () => {
  const { post } = harness();
  for (const [request, field] of [
    [{ steps: [{ type: 'a.b', args: [] }] }, 'type'],
    [{ steps: [step('a'), { type: 'a.b', args: [] }] }, 'steps[1].id'],
    [{ steps: [step('a', 'z')] }, 'steps[0].depends_on'],
    [{ steps: [step('a', 'b'), step('b', 'a')] }, 'steps'],
  ] as const) {
    const { status, body } = await post('/ojs/v1/workflows', request);
    expect([status, body.error.details.field]).toEqual([400, field]);
  }
});

test('C5: a workflow shows every step, what it came to and when', async () => {
  const server = harness();
  const { id } = (await server.post('/ojs/v1/workflows', MERGE)).body.workflow;
  await work(server, { result: { n: 1 } });
  const { workflow } = (await server.get(`/ojs/v1/workflows/${id}`)).body;
  const [first, second, third] = workflow.steps;
  expect(first).toEqual({
    ...{ id: 'welcome', type: 'step.welcome', state: 'completed', depends_on: [], job_id: expect.any(String) },
    ...{ started_at: '2030-01-01T00:00:00.000Z', completed_at: '2030-01-01T00:00:00.000Z', result: { n: 1 } },
  });
  expect(second).toMatchObject({ id: 'profile', state: 'available' });
  expect(third).toMatchObject({ id: 'confirm', state: 'pending', depends_on: ['welcome', 'profile'] });
  expect(workflow.metadata).toMatchObject({ job_count: 3, completed_count: 1, started_at: first.started_at });
  expect(workflow).not.toHaveProperty('errors');
  const bare = (await server.get(`/ojs/v1/workflows/${id}?steps=false`)).body.workflow;
  expect(bare).not.toHaveProperty('steps');
});

test('C8: a workflow that failed names the step and its error', async () => {
  const server = harness();
  const options = { queue: 'mails', retry: { max_attempts: 1 } };
  const steps = ['a.one', 'a.two', 'a.three'].map((type) => ({ type, args: [], options }));
  const { id } = (await server.post('/ojs/v1/workflows', { type: 'chain', steps })).body.workflow;
  await work(server, {});
  await work(server, { error: { code: 'smtp_down', type: 'SmtpError', message: 'no route' } }, 'nack');
  const { workflow } = (await server.get(`/ojs/v1/workflows/${id}`)).body;
  const failed = workflow.steps[1];
  expect(workflow).toMatchObject({ state: 'failed', failed_step_index: 1, failed_job_ids: [failed.job_id] });
  expect(workflow.errors).toEqual([
    { job_id: failed.job_id, step_id: '1', type: 'SmtpError', code: 'smtp_down', message: 'no route' },
  ]);
  expect(workflow.steps.map(({ index, state }: { index: number; state: string }) => [index, state])).toEqual([
    [0, 'completed'],
    [1, 'discarded'],
    [2, 'cancelled'],
  ]);
});

test('C8: a cancelled workflow says when, and how many of its steps were done', async () => {
  const server = harness();
  const { id } = (await server.post('/ojs/v1/workflows', MERGE)).body.workflow;
  await work(server, {});
  const { workflow } = (await server.delete(`/ojs/v1/workflows/${id}`)).body;
  expect(workflow).toMatchObject({ state: 'cancelled', steps_cancelled: 2, steps_already_completed: 1 });
  expect(workflow.cancelled_at).toBe('2030-01-01T00:00:02.000Z');
});

test('C5: results that are too large together stay with their jobs', async () => {
  const server = harness({ maxBodyBytes: 4 * 1024 * 1024 });
  const { id } = (await server.post('/ojs/v1/workflows', MERGE)).body.workflow;
  await work(server, { result: 'x'.repeat(800_000) });
  expect((await server.get(`/ojs/v1/workflows/${id}`)).body.workflow).not.toHaveProperty('results_omitted');
  await work(server, { result: 'x'.repeat(800_000) });
  const { workflow } = (await server.get(`/ojs/v1/workflows/${id}`)).body;
  expect(workflow.results_omitted).toBe(true);
  expect(JSON.stringify(workflow).length).toBeLessThan(5_000);
});

test('A8: of two large groups in a chain the answer leaves out who waits for whom, and names it with each job', async () => {
  const { post, get } = harness();
  const group = (type: string) => ({ type: 'group', jobs: Array.from({ length: 300 }, () => ({ type, args: [] })) });
  const { status, body } = await post('/ojs/v1/workflows', { type: 'chain', steps: [group('a.b'), group('c.d')] });
  expect([status, body.workflow.depends_on_omitted, body.workflow.steps.length]).toEqual([201, true, 600]);
  expect(body.workflow.steps.filter((step: object) => 'depends_on' in step)).toEqual([]);
  const { body: page } = await get(`/ojs/v1/workflows/${body.workflow.id}/jobs?limit=1`);
  expect(page.jobs[0].depends_on).toHaveLength(300);
});
