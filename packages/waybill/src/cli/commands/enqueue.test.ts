import { expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

test('prints the id, the state and the queue', async () => {
  const terminal = new Terminal();
  expect(await terminal.text('enqueue', 'email.send', '"ada"', '{"a":1}', '--queue', 'email')).toMatchInlineSnapshot(`
    "
    ID-1................................ available in queue email
    "
  `);
  expect(await terminal.text('enqueue', 'email.send', '--delay', '5m')).toMatchInlineSnapshot(`
    "
    ID-2................................ scheduled in queue default
    "
  `);
});

test('takes every option of a job', async () => {
  const terminal = new Terminal();
  const id = '01940000-0000-7000-8000-000000000001';
  const options = ['--priority', '-5', '--delay', 'PT5M', '--id', id];
  const objects = ['--meta', '{"by":"me"}', '--retry', '{"max_attempts":7}'];
  expect(await terminal.json('enqueue', 'a.b', '[1]', 'null', ...options, ...objects)).toMatchInlineSnapshot(`
    {
      "created": true,
      "job": {
        "args": [
          [
            1,
          ],
          null,
        ],
        "attempt": 0,
        "created_at": "2030-01-01T00:00:00.000Z",
        "id": "ID-1................................",
        "max_attempts": 7,
        "meta": {
          "by": "me",
        },
        "options": {
          "scheduled_at": "+PT300S",
        },
        "priority": -5,
        "queue": "default",
        "retry": {
          "max_attempts": 7,
        },
        "run": 0,
        "scheduled_at": "2030-01-01T00:05:00.000Z",
        "specversion": "1.0",
        "state": "scheduled",
        "type": "a.b",
      },
    }
  `);
});

test('a known key answers the first job', async () => {
  const terminal = new Terminal();
  await terminal.run('enqueue', 'a.b', '--idempotency-key', 'k');
  expect(await terminal.text('enqueue', 'a.b', '--idempotency-key', 'k')).toMatchInlineSnapshot(`
    "
    ID-1................................ available in queue default (known already)
    "
  `);
});

/** Settles the job as soon as it is there, as a worker elsewhere would. */
async function waitFor(
  terminal: Terminal,
  outcome: Parameters<Terminal['settle']>[0],
  ...args: string[]
): Promise<string> {
  const retry = ['--retry', '{"max_attempts":1}'];
  const [text] = await Promise.all([
    terminal.text('enqueue', 'a.b', ...retry, '--wait', ...args),
    terminal.engine(async ({ jobs }) => {
      const [lease] = await jobs.claim({ queues: ['default'], waitMs: 20_000 });
      await jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
    }),
  ]);
  return text;
}

test('--wait prints the result; a text comes without quotes', async () => {
  const terminal = new Terminal();
  expect(await waitFor(terminal, { kind: 'completed', result: { sent: true } })).toMatchInlineSnapshot(`
    "
    {
      "sent": true
    }
    "
  `);
  expect(await waitFor(terminal, { kind: 'completed', result: 'sent' }, '--timeout', '1m')).toBe('\nsent\n');
});

test('--wait exits with 1 when the job fails, and says why', async () => {
  const terminal = new Terminal();
  const outcome = { kind: 'failed', error: { code: 'smtp', message: 'The line is dead.' } } as const;
  expect(await waitFor(terminal, outcome)).toMatchInlineSnapshot(`
    "
    exit 1
    waybill: job ID-1................................ was discarded: The line is dead.
    "
  `);
});

test('--wait ends at its timeout with 15, and by Ctrl-C with 130; the job goes on', async () => {
  const terminal = new Terminal();
  expect(await terminal.text('enqueue', 'a.b', '--wait', '--timeout', '1ms')).toMatchInlineSnapshot(`
    "
    exit 15
    waybill: Job ID-1................................ has not finished within 1 ms; it is available.
      The job goes on; wait for it again.
    "
  `);
  terminal.interruption.abort();
  expect(await terminal.text('enqueue', 'a.b', '--wait')).toMatchInlineSnapshot(`
    "
    exit 130
    waybill: no longer waiting for job ID-2................................; it goes on.
    "
  `);
  expect(await terminal.json('jobs', 'list', '--state', 'available')).toMatchObject({ jobs: [{}, {}] });
});
