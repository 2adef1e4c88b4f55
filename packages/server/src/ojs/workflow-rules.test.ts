import { describe, expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';

const step = (id: string, more: object = {}) => ({ id, type: `step.${id}`, args: [], ...more });

/** Settles the jobs that can be fetched, each with its result. */
async function work({ post, clock }: Harness, results: Record<string, unknown>): Promise<Record<string, unknown>> {
  await clock.advance(1);
  const { body } = await post('/ojs/v1/workers/fetch', { queues: ['default'], count: 100 });
  const given: Record<string, unknown> = {};
  for (const { id, lease_token, node, parent_results } of body.jobs) {
    given[node] = parent_results;
    const answer = { job_id: id, lease_token, result: results[node] ?? null };
    expect((await post('/ojs/v1/workers/ack', answer)).status).toBe(200);
  }
  return given;
}

const GRAPH = {
  name: 'digest',
  timeout_ms: 60_000,
  nodes: [
    step('page'),
    step('sizes', { depends_on: ['page'], map: { over: { parent: 'page', path: 'links' }, limit: 10 } }),
    step('large', { depends_on: ['page'], when: { parent: 'page', path: 'links.2', exists: true } }),
    step('end', { depends_on: ['sizes', 'large'], delay_ms: 5_000, if_skipped: 'run' }),
  ],
};

test('conditions, maps, delays and a timeout travel, and are told of in answers', async () => {
  const server = harness();
  const { get, post, clock } = server;
  const { status, body } = await post('/ojs/v1/workflows', GRAPH);
  expect([status, body.workflow.timeout_ms, body.workflow.partial_failure]).toEqual([201, 60_000, undefined]);
  const [, sizes, large, end] = body.workflow.steps;
  expect(sizes.rules).toEqual({ map: { over: { parent: 'page', path: 'links' }, limit: 10 } });
  expect(large.rules).toEqual({ when: { parent: 'page', path: 'links.2', exists: true } });
  expect(end.rules).toEqual({ delay_ms: 5_000, if_skipped: 'run' });
  await work(server, { page: { links: ['a', 'b'] } });
  await work(server, { 'sizes[0]': 1, 'sizes[1]': 2 });
  await clock.advance(5_000);
  expect(await work(server, {})).toEqual({ end: [[1, 2], null] });
  await clock.advance(1);
  const path = `/ojs/v1/workflows/${body.workflow.id}`;
  const { workflow } = (await get(path)).body;
  expect(workflow).toMatchObject({
    state: 'completed',
    metadata: { job_count: 6, completed_count: 5, skipped_count: 1 },
  });
  expect(workflow.steps.find(({ id }: { id: string }) => id === 'large')).toMatchObject({ outcome: 'skipped' });
  const { jobs } = (await get(`${path}/jobs`)).body;
  const skipped = jobs.find(({ node }: { node: string }) => node === 'large');
  expect(skipped).toMatchObject({ state: 'completed', outcome: 'skipped', run: 0, rules: large.rules });
});

test('a workflow that runs on after a failure says so, and one that is too late says why it failed', async () => {
  const { get, post, clock } = harness();
  const once = { options: { retry: { max_attempts: 1 } } };
  const { body } = await post('/ojs/v1/workflows', { nodes: [step('a', once), step('b')], timeout_ms: 5_000 });
  const fetched = (await post('/ojs/v1/workers/fetch', { queues: ['default'], count: 2 })).body.jobs;
  const { id: job_id, lease_token } = fetched.find(({ node }: { node: string }) => node === 'a');
  await post('/ojs/v1/workers/nack', { job_id, lease_token, error: { code: 'x', message: 'no' } });
  await clock.advance(1);
  const read = async () => (await get(`/ojs/v1/workflows/${body.workflow.id}?steps=false`)).body.workflow;
  expect(await read()).toMatchObject({ state: 'running', partial_failure: true });
  await clock.advance(5_000);
  await clock.advance(1);
  const { partial_failure, ...ended } = await read();
  expect([partial_failure, ended]).toMatchObject([undefined, { state: 'failed', reason: 'timeout' }]);
});

describe('what cannot be followed is refused, with the field', () => {
  const after = { depends_on: ['page'] };
  const is = { parent: 'page', equals: 1 };
  test.each<[string, object, string, string?]>([
    ['a condition of a node without parents', { when: is }, 'nodes[1].when'],
    ['a stranger', { ...after, when: { parent: 'pge', equals: 1 } }, 'nodes[1].when'],
    ['an unknown comparison', { ...after, when: { parent: 'page', equal: 1 } }, 'nodes[1].when.equal', "'equals'"],
    ['two comparisons', { ...after, when: { ...is, gt: 1 } }, 'nodes[1].when.equals'],
    ['no comparison', { ...after, when: { parent: 'page' } }, 'nodes[1].when.equals'],
    ['a comparison of another type', { ...after, when: { parent: 'page', gt: true } }, 'nodes[1].when.gt'],
    ['an empty group', { ...after, when: { all: [] } }, 'nodes[1].when.all'],
    ['a path that leads nowhere', { ...after, when: { ...is, path: 'a..b' } }, 'nodes[1].when.path'],
    [
      'an inner condition',
      { ...after, when: { any: [is, { not: { parent: 'page', gt: null } }] } },
      'nodes[1].when.any[1].not.gt',
    ],
    ['a negative delay', { ...after, delay_ms: -1 }, 'nodes[1].delay_ms'],
    ['a misspelt rule', { ...after, delayMs: 5 }, 'nodes[1].delayMs', "'delay_ms'"],
    ['another answer to skipped parents', { ...after, if_skipped: 'ignore' }, 'nodes[1].if_skipped'],
    ['a map over nothing', { ...after, map: {} }, 'nodes[1].map.over'],
    ['a misspelt map', { ...after, map: { over: { parent: 'page' }, limits: 1 } }, 'nodes[1].map.limits', "'limit'"],
    ['a map over a stranger', { ...after, map: { over: { parent: 'x' } } }, 'nodes[1].map.over.parent'],
    [
      'two limits',
      { ...after, map: { over: { parent: 'page' }, concurrency: 1 }, rate_limit: { key: 'k', concurrency: 2 } },
      'map.concurrency',
    ],
  ])('%s', async (_, more, field, meant = '') => {
    const { post } = harness();
    const { status, body } = await post('/ojs/v1/workflows', { nodes: [step('page'), step('b', more)] });
    expect([status, body.error.details.field]).toEqual([400, field]);
    expect(body.error.message).toContain(meant);
  });

  test.each<[object, string]>([
    [{ type: 'chain', steps: [{ type: 'a.b', args: [], when: is }] }, '0.when'],
    [{ nodes: [step('a')], timeout_ms: 0 }, 'timeout_ms'],
    [{ nodes: [step('a')], timeoutMs: 5 }, 'timeoutMs'],
  ])('%j', async (request, field) => {
    const { status, body } = await harness().post('/ojs/v1/workflows', request);
    expect([status, body.error.details.field]).toEqual([400, field]);
  });
});
