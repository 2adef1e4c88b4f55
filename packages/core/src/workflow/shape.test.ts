import { describe, expect, test } from 'vitest';
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
