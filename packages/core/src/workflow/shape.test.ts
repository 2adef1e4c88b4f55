import { describe, expect, test } from 'vitest';
import { aJob } from '../testing/factories.ts';
import { plant } from './plant.ts';
import { checkWorkflow } from './shape.ts';

const job = { type: 'a.b', args: [] };
const edges = (request: unknown) => checkWorkflow(request).nodes.map(({ name, parents }) => [name, ...parents]);

test('a chain waits step by step and stops at a failure', () => {
  expect(edges({ type: 'chain', steps: [job, job, job] })).toEqual([['0'], ['1', '0'], ['2', '1']]);
  expect(checkWorkflow({ type: 'chain', steps: [job] }).failurePolicy).toBe('stop');
});

test('a group waits for nothing and goes on after a failure', () => {
  expect(edges({ type: 'group', jobs: [job, job] })).toEqual([['0'], ['1']]);
  expect(checkWorkflow({ type: 'group', jobs: [job] }).failurePolicy).toBe('continue');
});

test('groups inside a chain fan out and in', () => {
  const request = {
    type: 'chain',
    steps: [job, { type: 'group', jobs: [job, { type: 'chain', steps: [job, job] }] }, job],
  };
  expect(edges(request)).toEqual([['0'], ['1.0', '0'], ['1.1.0', '0'], ['1.1.1', '1.1.0'], ['2', '1.0', '1.1.1']]);
});

describe('A8: a group behind a group', () => {
  const group = (count: number) => ({ type: 'group', jobs: Array(count).fill(job) });
  const planted = (request: unknown) => {
    const nodes = checkWorkflow(request).nodes;
    const make = ({ name }: { name: string }) => ({ ...aJob({ workflowId: 'flow', node: name }) });
    const { jobs, edges } = plant(nodes, make, new Map());
    const names = new Map(jobs.map(({ job: made }) => [made.id, made.node]));
    return edges.map(({ parent, child }) => [names.get(parent) ?? 'join', names.get(child) ?? 'join']);
  };

  test('waits for all of it by a join', () => {
    expect(planted({ type: 'chain', steps: [group(2), group(3)] })).toEqual([
      ...[
        ['0.0', 'join'],
        ['0.1', 'join'],
      ],
      ...['1.0', '1.1', '1.2'].map((name) => ['join', name]),
    ]);
  });

  test('has n + m edges, however large both are, also one after the other and inside of others', () => {
    expect(planted({ type: 'chain', steps: [group(1_500), group(1_500)] })).toHaveLength(3_000);
    const inner = { type: 'chain', steps: [group(50), group(60), group(70)] };
    expect(planted({ type: 'chain', steps: [job, { type: 'group', jobs: [inner, inner] }, group(10)] })).toHaveLength(
      2 * (50 + 50 + 60 + 60 + 70) + 2 * 70 + 10,
    );
  });

  test('needs no join where one of them has a single end or a single start', () => {
    expect(planted({ type: 'chain', steps: [group(3), job, group(3)] }).flat()).not.toContain('join');
  });
});

test('A8: the number of edges is bounded', () => {
  const parents = Array.from({ length: 100 }, (_, n) => ({ id: `p${n}`, ...job }));
  const children = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `c${n}`, depends_on: parents.map(({ id }) => id), ...job }));
  expect(checkWorkflow({ nodes: [...parents, ...children(500)] }).nodes).toHaveLength(600);
  expect(() => checkWorkflow({ nodes: [...parents, ...children(501)] })).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      message: "'nodes' depend on each other 50100 times; at most 50000 times are allowed.",
      details: { field: 'nodes', max: 50_000, edges: 50_100 },
    }),
  );
});

test('any graph', () => {
  const nodes = [
    { id: 'd', depends_on: ['b', 'c'], ...job },
    { id: 'a', ...job },
    { id: 'b', depends_on: ['a'], job },
    { id: 'c', depends_on: ['a', 'a'], ...job },
  ];
  expect(edges({ nodes })).toEqual([['d', 'b', 'c'], ['a'], ['b', 'a'], ['c', 'a']]);
  expect(checkWorkflow({ nodes }).nodes[0]!.request).toEqual(job);
});

test('a long chain and a wide graph are read in no time', () => {
  const long = Array.from({ length: 10_000 }, (_, n) => ({
    id: `n${n}`,
    depends_on: n === 0 ? [] : [`n${n - 1}`],
    ...job,
  }));
  expect(checkWorkflow({ nodes: long }).nodes).toHaveLength(10_000);
});

describe('refuses', () => {
  test.each<[string, unknown, string]>([
    ['no type', { jobs: [job] }, 'type'],
    ['an unknown type', { type: 'tree', jobs: [job] }, 'type'],
    ['an empty chain', { type: 'chain', steps: [] }, 'steps'],
    ['a batch without callbacks', { type: 'batch', jobs: [job] }, 'callbacks'],
    ['an unknown callback', { type: 'batch', jobs: [job], callbacks: { on_tuesday: job } }, 'callbacks.on_tuesday'],
    ['no callback at all', { type: 'batch', jobs: [job], callbacks: {} }, 'callbacks'],
    ['a node without name', { nodes: [job] }, 'nodes[0].id'],
    [
      'a name twice',
      {
        nodes: [
          { id: 'a', ...job },
          { id: 'a', ...job },
        ],
      },
      'nodes[1].id',
    ],
    ['an unknown parent', { nodes: [{ id: 'a', depends_on: ['z'], ...job }] }, 'nodes[0].depends_on'],
    ['a node that waits for itself', { nodes: [{ id: 'a', depends_on: ['a'], ...job }] }, 'nodes'],
    [
      'a circle',
      {
        nodes: [
          { id: 'a', depends_on: ['b'], ...job },
          { id: 'b', depends_on: ['a'], ...job },
        ],
      },
      'nodes',
    ],
    ['too many jobs', { type: 'group', jobs: Array(10_001).fill(job) }, 'jobs'],
    ['an unknown policy', { type: 'group', jobs: [job], failure_policy: 'panic' }, 'failure_policy'],
  ])('%s', (_, request, field) => {
    expect(() => checkWorkflow(request)).toThrow(
      expect.objectContaining({ code: 'invalid_request', details: expect.objectContaining({ field }) }),
    );
  });
});

test('C4: an option of the workflow does not join one of the job that means the same', () => {
  const job = { type: 'a.b', args: [] };
  const steps = [
    { ...job, options: { delay_until: '+PT1S' } },
    { ...job, timeout_ms: 5 },
  ];
  const { nodes } = checkWorkflow({ type: 'chain', steps, options: { scheduled_at: '+PT9S', timeout: 9 } });
  expect(nodes.map(({ request }) => request.options)).toEqual([
    { delay_until: '+PT1S', timeout: 9 },
    { scheduled_at: '+PT9S' },
  ]);
});
