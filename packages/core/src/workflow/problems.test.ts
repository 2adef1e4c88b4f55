import { expect, test } from 'vitest';
import { workflowProblems } from './problems.ts';

const told = (request: unknown) =>
  workflowProblems(request, 0).map(({ path, message }) => `${path.join('.')}: ${message}`);
const job = { type: 'a.b', args: [] };

test('a sound workflow of any shape has no problem', () => {
  const graph = {
    name: 'g',
    nodes: [
      { id: 'a', ...job, queue: 'mail', own_field: 1 },
      { id: 'b', depends_on: ['a'], job },
    ],
  };
  const nested = { type: 'chain', steps: [job, { type: 'group', jobs: [job, { type: 'chain', steps: [job] }] }] };
  const batch = { type: 'batch', jobs: [job], callbacks: { on_success: job } };
  for (const request of [graph, nested, batch, { steps: [{ id: 'a', ...job }] }]) expect(told(request)).toEqual([]);
});

test('nodes that wait for a signal have no job, and reviews are looked at like all rules', () => {
  const sound = [
    { id: 'paid', signal: true },
    { id: 'draft', depends_on: ['paid'], review: { timeout_ms: 5 }, ...job },
  ];
  expect(told({ nodes: sound })).toEqual([]);
  const bad = [
    { id: 'paid', signal: { timeout_ms: 0 } },
    { id: 'sent', signal: true, type: 'a.b' },
    { id: 'draft', review: { timeout: 1 }, ...job },
  ];
  expect(told({ nodes: bad }).map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    ...['nodes.0.signal.timeout_ms', 'nodes.1.type', 'nodes.2.review.timeout'],
  ]);
});

test('every fault of a graph is named at once, with its place', () => {
  const request = {
    name: 7,
    failure_policy: 'maybe',
    timeout: 3,
    nodes: [
      { id: 'build', type: 'Bad Type', args: {}, options: { queue: 'NO', priority: 1_000 } },
      { id: 'build', type: 'a.b', args: [], queue: 'NO', retry: { max_atempts: 3 } },
      { id: 'test', depends_on: ['biuld', 'build', 'nowhere'], job: { args: [], tpye: 'a.b' } },
      { id: 'last', dependsOn: ['test'], ...job, delay_ms: 5 },
      { id: 'when', depends_on: ['test'], ...job, when: { parent: 'build', equals: 1 }, delay_ms: -1 },
      'no node',
    ],
    callbacks: { on_sucess: job, on_failure: { type: 'x', args: 1 } },
  };
  expect(told(request)).toMatchInlineSnapshot(`
    [
      "timeout: 'timeout' is not known here.",
      "name: 'name' must be a string, not number.",
      "failure_policy: 'failure_policy' must be one of stop, continue.",
      "nodes.0.type: 'type' must be lower-case words joined by dots, like email.send.",
      "nodes.0.args: 'args' must be an array, not object.",
      "nodes.0.options.queue: 'options.queue' must be 1 to 128 characters of a-z, 0-9, '.' and '-', beginning with a letter or digit.",
      "nodes.0.options.priority: 'options.priority' must be an integer from -100 to 100.",
      "nodes.1.id: 'build' is the name of an earlier node.",
      "nodes.1.retry.max_atempts: 'options.retry.max_atempts' is not known here. Did you mean 'max_attempts'?",
      "nodes.1.queue: 'options.queue' must be 1 to 128 characters of a-z, 0-9, '.' and '-', beginning with a letter or digit.",
      "nodes.2.job.tpye: 'tpye' is not known here. Did you mean 'type'?",
      "nodes.2.depends_on.0: 'biuld' is no node here. Did you mean 'build'?",
      "nodes.2.depends_on.2: 'nowhere' is no node here.",
      "nodes.2.job.type: 'type' is required.",
      "nodes.3.dependsOn: 'dependsOn' is not known here. Did you mean 'depends_on'?",
      "nodes.3.delay_ms: 'delay_ms' is about a node's parents: name them in 'depends_on'.",
      "nodes.4.delay_ms: 'delay_ms' must be an integer from 0 to 31622400000.",
      "nodes.4.when: 'when' names 'build', which the node does not depend on. Add it to 'depends_on'.",
      "nodes.5: 'nodes[5]' must be an object.",
      "callbacks.on_sucess: 'on_sucess' is none of on_success, on_failure, on_complete.",
      "callbacks.on_failure.args: 'args' must be an array, not number.",
    ]
  `);
});

test('faults of steps inside of steps have their place too', () => {
  const steps = [{ type: 'a.b' }, { type: 'group', jobs: [job, { ...job, when: {} }, { type: 'chain', steps: [7] }] }];
  expect(told({ type: 'chain', steps, options: 7 })).toMatchInlineSnapshot(`
    [
      "options: 'options' must be an object, not number.",
      "steps.0.args: 'args' is required and must be an array.",
      "steps.1.jobs.1.when: 'when' is for nodes of a graph: send 'nodes' with 'id' and 'depends_on'.",
      "steps.1.jobs.2.steps.0: A step must be a job or a workflow.",
    ]
  `);
});

test('what no part has by itself is named too', () => {
  const nodes = [
    { id: 'a', depends_on: ['b'], ...job },
    { id: 'b', depends_on: ['a'], ...job },
  ];
  expect(told({ nodes })).toEqual([expect.stringContaining('go in a circle')]);
  expect(told({})).toEqual([expect.stringContaining("'type' is required")]);
  expect(told({ nodes: [] })).toEqual([expect.stringContaining('at least one item')]);
  expect(told({ type: 'batch', jobs: [job] })).toEqual([expect.stringContaining("'callbacks' is required")]);
  expect(told([])).toEqual([expect.stringContaining('must be an object')]);
});

test('whatever it is, looking at it neither fails nor goes on for ever', () => {
  for (const request of [
    null,
    7,
    { nodes: {} },
    { nodes: [null, [], {}] },
    { steps: [[]] },
    { callbacks: 1, jobs: [{}] },
  ])
    expect(told(request)).not.toEqual([]);
});
