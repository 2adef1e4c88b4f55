import { beforeEach, expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

const job = (type: string) => ({ type, args: [], options: { retry: { max_attempts: 1 } } });

let terminal: Terminal;
let id: string;
beforeEach(async () => {
  terminal = new Terminal();
  const nodes = [
    { id: 'draft', review: { timeout_ms: 86_400_000 }, ...job('page.draft') },
    { id: 'paid', signal: true },
    { id: 'publish', depends_on: ['draft', 'paid'], ...job('page.publish') },
  ];
  ({ id } = await terminal.engine(({ workflows }) => workflows.create({ name: 'page', nodes })));
  await terminal.settle({ kind: 'completed', result: 'first' }, { ms: 1_000 });
});

test('show: what is in review, and what waits', async () => {
  await terminal.run('workflows', 'revise', id, 'draft', 'Shorter, please.');
  await terminal.settle({ kind: 'completed', result: 'second' }, { ms: 1_000 });
  expect(await terminal.text('workflows', 'show', id)).toMatchInlineSnapshot(`
    "
    page ID-1................................
    dag running, 2 of 5 completed, 2s
    ├─ draft[1]     page.draft      completed  1s
    │  └─ draft[2]  page.draft      completed  1s  revised: Shorter, please.
    │     └─ draft  page.draft      in review  also after draft[1]  is reviewed within 1d
    └─ paid         waybill.signal  waiting    waits for a signal
       └─ publish   page.publish    pending    also after draft
    "
  `);
});

test('a review: revise, approve, and what does not fit', async () => {
  expect(await terminal.text('workflows', 'revise', id, 'draft', 'Shorter.')).toMatchInlineSnapshot(`
    "
    draft runs again, workflow ID-1................................ running
    "
  `);
  expect(await terminal.text('workflows', 'approve', id, 'draft')).toMatchInlineSnapshot(`
    "
    exit 8
    waybill: Node 'draft' is not in review: iteration 2 has not completed, and the workflow is running.
    "
  `);
  await terminal.settle({ kind: 'completed', result: 'second' }, { ms: 1_000 });
  expect(await terminal.text('workflows', 'approve', id, 'draft', '--iteration', '1')).toMatchInlineSnapshot(`
    "
    exit 8
    waybill: Node 'draft' is in review with iteration 2, not 1.
    "
  `);
  expect(await terminal.text('workflows', 'approve', id, 'draft', '--comment', 'Good.')).toMatchInlineSnapshot(`
    "
    draft approved, workflow ID-1................................ running
    "
  `);
  const { events } = await terminal.engine(({ events }) => events.read({ filter: { types: ['job.approved'] } }));
  expect(events).toMatchObject([{ data: { approved_by: 'cli', comment: 'Good.', iteration: 2 } }]);
});

test('a signal, and a name that is not known', async () => {
  expect(await terminal.text('workflows', 'signal', id, 'payd')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: Workflow ID-1................................ has no node that waits for a signal 'payd'. Did you mean 'paid'?
    "
  `);
  expect(await terminal.text('workflows', 'signal', id, 'paid', 'five')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: DATA-JSON is no JSON: five
      Quote it for the shell, and texts for JSON: '"text"', '{"a":1}'.
    "
  `);
  expect(await terminal.text('workflows', 'signal', id, 'paid', '{"amount":5}')).toMatchInlineSnapshot(`
    "
    paid sent, workflow ID-1................................ running
    "
  `);
  expect(await terminal.text('workflows', 'signal', id, 'paid')).toMatchInlineSnapshot(`
    "
    exit 8
    waybill: Node 'paid' got this signal with other data before.
    "
  `);
  expect(await terminal.json('workflows', 'signal', id, 'paid', '{"amount":5}')).toMatchObject({
    workflow: { state: 'running', metadata: { job_count: 4 } },
  });
});
