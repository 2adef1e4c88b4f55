import { beforeEach, expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

const job = (type: string) => ({ type, args: [], options: { retry: { max_attempts: 1 } } });

let terminal: Terminal;
let id: string;
beforeEach(async () => {
  terminal = new Terminal();
  const steps = [
    job('order.check'),
    { type: 'group', jobs: [job('mail.send'), job('stock.take')] },
    job('order.close'),
  ];
  ({ id } = await terminal.engine(({ workflows }) => workflows.create({ type: 'chain', name: 'order', steps })));
  terminal.now += 500;
  await terminal.settle({ kind: 'failed', error: { code: 'broke', message: 'No money.' } }, { ms: 1_200 });
  terminal.now += 60_000;
});

test('list', async () => {
  expect(await terminal.text('workflows')).toMatchInlineSnapshot(`
    "
    ID                                    NAME   TYPE   STATE   JOBS  CREATED
    ID-1................................  order  chain  failed     4  1m 1s ago
    "
  `);
  expect(await terminal.text('workflows', 'list', '--state', 'completed')).toBe('\nNo workflows.\n');
});

test('show: a tree with states and durations', async () => {
  expect(await terminal.text('workflows', 'show', id)).toMatchInlineSnapshot(`
    "
    order ID-1................................
    chain failed, 0 of 4 completed, 1 failed, 3 cancelled, 1.7s
    ├─ 0       order.check  discarded  1.2s  No money.
    ├─ 1
    │  ├─ 1.0  mail.send    cancelled
    │  └─ 1.1  stock.take   cancelled
    └─ 2       order.close  cancelled
    "
  `);
  expect(await terminal.json('workflows', 'show', id)).toMatchObject({
    workflow: { type: 'chain', name: 'order', metadata: { job_count: 4 } },
    jobs: [{}, {}, {}, {}],
  });
});

test('show: any graph', async () => {
  const nodes = [
    { id: 'b', ...job('ci.build') },
    { id: 'a', depends_on: ['b'], ...job('ci.publish') },
  ];
  const graph = await terminal.engine(({ workflows }) => workflows.create({ nodes }));
  await terminal.settle({ kind: 'completed', result: null }, { ms: 65_000 });
  expect(await terminal.text('workflows', 'show', graph.id)).toMatchInlineSnapshot(`
    "
    workflow ID-1................................
    dag running, 1 of 2 completed, 1m 5s
    └─ b     ci.build    completed  1m 5s
       └─ a  ci.publish  available
    "
  `);
});

test('show: each node of a graph once, below the last that it waits for', async () => {
  const nodes = [
    { id: 'install', ...job('ci.install') },
    { id: 'lint', depends_on: ['install'], ...job('ci.lint') },
    { id: 'test', depends_on: ['install'], ...job('ci.test') },
    { id: 'notes', ...job('docs.notes') },
    { id: 'publish', depends_on: ['lint', 'test', 'notes'], ...job('ci.publish') },
    { id: 'announce', depends_on: ['publish'], ...job('mail.send') },
  ];
  const graph = await terminal.engine(({ workflows }) => workflows.create({ name: 'release', nodes }));
  expect(await terminal.text('workflows', 'show', graph.id)).toMatchInlineSnapshot(`
    "
    release ID-1................................
    dag running, 0 of 6 completed, 0ms
    ├─ install         ci.install  available
    │  ├─ lint         ci.lint     pending
    │  └─ test         ci.test     pending
    └─ notes           docs.notes  available
       └─ publish      ci.publish  pending    also after lint, test
          └─ announce  mail.send   pending
    "
  `);
  const shown = (await terminal.json('workflows', 'show', graph.id)) as { jobs: { node: string }[] };
  const edges = shown.jobs.map(({ node, ...rest }) => [node, 'depends_on' in rest && rest.depends_on]);
  expect(Object.fromEntries(edges)).toMatchInlineSnapshot(`
    {
      "announce": [
        "publish",
      ],
      "install": [],
      "lint": [
        "install",
      ],
      "notes": [],
      "publish": [
        "lint",
        "test",
        "notes",
      ],
      "test": [
        "install",
      ],
    }
  `);
});

test('show: a chain that got further nodes, named as anybody likes', async () => {
  const steps = [job('order.check'), job('order.close')];
  const chain = await terminal.engine(({ workflows }) => workflows.create({ type: 'chain', name: 'next', steps }));
  await terminal.engine(({ workflows }) =>
    workflows.addNodes(chain.id, [{ id: 'audit', depends_on: ['0'], ...job('a.b') }]),
  );
  expect(await terminal.text('workflows', 'show', chain.id)).toMatchInlineSnapshot(`
    "
    next ID-1................................
    chain running, 0 of 3 completed, 0ms
    └─ 0         order.check  available
       ├─ 1      order.close  pending
       └─ audit  a.b          pending
    "
  `);
});

test('show: a long line of nodes does not run out of the screen', async () => {
  const nodes = Array.from({ length: 1_500 }, (_, index) => ({
    ...{ id: `n${index}`, ...job('test.job') },
    ...(index > 0 && { depends_on: [`n${index - 1}`] }),
  }));
  const graph = await terminal.engine(({ workflows }) => workflows.create({ nodes }));
  const lines = (await terminal.text('workflows', 'show', graph.id)).trimEnd().split('\n').slice(3);
  expect(lines.map((line) => / n(\d+) /.exec(line)?.[1])).toEqual(nodes.map((_, index) => String(index)));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(150);
  expect(lines.at(-1)!.trim()).toMatchInlineSnapshot(`"└─ n1499  test.job  pending    after n1498"`);
});

test('resume, cancel and what is not there', async () => {
  expect(await terminal.text('workflows', 'resume', id)).toMatchInlineSnapshot(`
    "
    ID-1................................ running
    "
  `);
  expect(await terminal.json('workflows', 'cancel', id)).toMatchInlineSnapshot(`
    {
      "workflow": {
        "completed_at": "2030-01-01T00:01:01.700Z",
        "created_at": "2030-01-01T00:00:00.000Z",
        "failure_policy": "stop",
        "id": "ID-1................................",
        "metadata": {
          "cancelled_count": 4,
          "completed_at": "2030-01-01T00:01:01.700Z",
          "completed_count": 0,
          "created_at": "2030-01-01T00:00:00.000Z",
          "failed_count": 0,
          "job_count": 4,
        },
        "name": "order",
        "state": "cancelled",
        "steps_completed": 0,
        "steps_total": 4,
        "type": "chain",
      },
    }
  `);
  expect(await terminal.text('workflows', 'resume', id)).toMatchInlineSnapshot(`
    "
    exit 8
    waybill: Workflow ID-1................................ is cancelled; only a failed one can be resumed.
    "
  `);
  expect(await terminal.text('workflows', 'show', '01940000-0000-7000-8000-000000000001')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: There is no workflow ID-2.................................
    "
  `);
});

test('M3: a node that is run again by itself is told to leave its workflow failed, and resume repairs it', async () => {
  const [failed] = await terminal.engine(
    async ({ jobs }) => (await jobs.list({ filter: { states: ['discarded'] } })).items,
  );
  const advice = `waybill: workflow ${id} stays failed. Run all of it that is left: waybill workflows resume ${id}\n`;
  expect((await terminal.run('jobs', 'retry', failed!.id)).err).toBe(terminal.stable(advice));
  expect(await terminal.json('workflows', 'show', id)).toMatchObject({ workflow: { state: 'failed' } });
  await terminal.run('workflows', 'resume', id);
  await terminal.settle({ kind: 'failed', error: { code: 'broke', message: 'No money.' } });
  await terminal.run('workflows', 'resume', id);
  for (let nodes = 0; nodes < 4; nodes += 1) await terminal.settle({ kind: 'completed', result: null });
  expect(await terminal.json('workflows', 'show', id)).toMatchObject({ workflow: { state: 'completed' } });
  expect((await terminal.run('jobs', 'retry', failed!.id)).err).not.toContain('stays failed');
});

test('M3: dead replay of a node says the same', async () => {
  const retry = { max_attempts: 1, on_exhaustion: 'dead_letter' };
  const steps = [{ type: 'order.pay', args: [], options: { queue: 'pay', retry } }];
  const flow = await terminal.engine(({ workflows }) => workflows.create({ type: 'chain', steps }));
  await terminal.settle({ kind: 'failed', error: { code: 'broke', message: 'No money.' } }, { queue: 'pay' });
  const [letter] = await terminal.engine(async ({ deadLetters }) => (await deadLetters.list()).items);
  const { code, err } = await terminal.run('dead', 'replay', letter!.id);
  expect([code, err]).toEqual([0, expect.stringContaining(terminal.stable(`waybill workflows resume ${flow.id}\n`))]);
});

test('show: conditions, maps, delays and what was skipped', async () => {
  const once = { type: 'page.step', args: [], options: { retry: { max_attempts: 1 } } };
  const nodes = [
    { id: 'page', ...once },
    { id: 'sizes', depends_on: ['page'], map: { over: { parent: 'page', path: 'links' } }, ...once },
    {
      id: 'alert',
      depends_on: ['page'],
      when: { all: [{ parent: 'page', path: 'n', gt: 5 }, { not: { parent: 'page', equals: null } }] },
      ...once,
    },
    { id: 'end', depends_on: ['sizes'], delay_ms: 5_000, if_skipped: 'run', ...once },
  ];
  const graph = await terminal.engine(({ workflows }) => workflows.create({ nodes, timeout_ms: 3_600_000 }));
  await terminal.settle({ kind: 'completed', result: { links: ['a'], n: 1 } }, { ms: 1_000 });
  await terminal.settle({ kind: 'failed', error: { code: 'x', message: 'No.' } }, { ms: 1_000 });
  expect(await terminal.text('workflows', 'show', graph.id)).toMatchInlineSnapshot(`
    "
    workflow ID-1................................
    dag failed, 1 of 5 completed, 1 failed, 2 cancelled, 1 skipped, 2s, timeout 1h
    └─ page            page.step  completed  1s
       ├─ alert        page.step  skipped    if page.n > 5 and not page = null
       └─ sizes        page.step  cancelled  for each of page.links
          ├─ sizes[0]  page.step  discarded  1s  No.
          └─ end       page.step  cancelled  5s later  also if skipped before
    "
  `);
});
