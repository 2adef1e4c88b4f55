import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const step = (id: string, more: object = {}) => ({ id, type: `step.${id}`, args: [], ...more });

test('a signal and a review over HTTP: a worker gets the feedback with the output before it', async () => {
  const { get, post, clock } = harness();
  const nodes = [
    step('draft', { review: { timeout_ms: 60_000 } }),
    { id: 'paid', signal: true },
    step('end', { depends_on: ['draft', 'paid'] }),
  ];
  const { status, body } = await post('/ojs/v1/workflows', { nodes });
  expect(status).toBe(201);
  expect(body.workflow.steps.map(({ id, rules }: { id: string; rules?: object }) => [id, rules])).toEqual([
    ['draft[1]', undefined],
    ['draft', { review: { timeout_ms: 60_000 } }],
    ['paid', { signal: {} }],
    ['end', undefined],
  ]);
  const path = `/ojs/v1/workflows/${body.workflow.id}`;
  const work = async (result: unknown) => {
    await clock.advance(1);
    const { job } = (await post('/ojs/v1/workers/fetch', { queues: ['default'] })).body;
    const answer = { job_id: job.id, lease_token: job.lease_token, result };
    expect((await post('/ojs/v1/workers/ack', answer)).status).toBe(200);
    return job;
  };
  const waiting = async (): Promise<Record<string, unknown>> => {
    await clock.advance(1);
    const { jobs } = (await get(`${path}/jobs`)).body;
    return Object.fromEntries(jobs.map((job: { node: string; waiting?: unknown }) => [job.node, job.waiting]));
  };

  const early = await post(`${path}/approve`, { node: 'draft' });
  expect([early.status, early.body.error.code]).toEqual([409, 'conflict']);
  await work('first');
  expect(await waiting()).toMatchObject({
    draft: { for: 'review', iteration: 1, until: expect.any(String) },
    paid: { for: 'signal' },
  });
  const asked = await post(`${path}/request-revision`, { node: 'draft', feedback: 'Shorter.', by: 'ann' });
  expect([asked.status, asked.body.workflow.metadata.job_count]).toEqual([200, 5]);
  const revision = { iteration: 2, feedback: 'Shorter.', by: 'ann' };
  const second = await work('second');
  expect(second).toMatchObject({ node: 'draft[2]', revision: { ...revision, previous: 'first' }, rules: { revision } });
  expect((await waiting())['draft']).toMatchObject({ iteration: 2 });
  expect((await post(`${path}/approve`, { node: 'draft', iteration: 1 })).status).toBe(409);
  expect((await post(`${path}/approve`, { node: 'draft', iteration: 2, comment: 'Good.' })).status).toBe(200);

  const unknown = await post(`${path}/signal`, { name: 'payd' });
  expect([unknown.status, unknown.body.error.message]).toEqual([404, expect.stringContaining("'paid'")]);
  for (const [data, status] of [[{ a: 1 }, 200] as const, [{ a: 1 }, 200] as const, [{ a: 2 }, 409] as const])
    expect((await post(`${path}/signal`, { name: 'paid', data })).status).toBe(status);
  expect((await work(null)).parent_results).toEqual(['second', { a: 1 }]);
  await clock.advance(1);
  expect((await get(path)).body.workflow.state).toBe('completed');
});
