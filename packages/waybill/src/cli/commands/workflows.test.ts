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
    ID                                    NAME   TYPE   STATE    JOBS  CREATED
    ID-1................................  order  chain  running     4  1m 1s ago
    "
  `);
  expect(await terminal.text('workflows', 'list', '--state', 'completed')).toBe('\nNo workflows.\n');
});

test('show: a tree with states and durations', async () => {
  expect(await terminal.text('workflows', 'show', id)).toMatchInlineSnapshot(`
    "
    order ID-1................................
    chain running, 0 of 4 completed, 1 failed, 1m 1s
    ├─ 0       order.check  discarded  1.2s  No money.
    ├─ 1
    │  ├─ 1.0  mail.send    pending
    │  └─ 1.1  stock.take   pending
    └─ 2       order.close  pending
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
    ├─ b  ci.build    completed  1m 5s
    └─ a  ci.publish  pending
    "
  `);
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
