import { DatabaseSync } from 'node:sqlite';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { EPOCH, Terminal } from '../testing/terminal.ts';

let terminal: Terminal;
beforeEach(async () => {
  terminal = new Terminal();
  await terminal.run('enqueue', 'email.send', '"ada"', '--queue', 'email');
  terminal.now += 90_000;
  await terminal.deadLetter('report.make', 'disk_full');
  terminal.now += 5_000;
});

test('list: a table, newest first', async () => {
  expect(await terminal.text('jobs', 'list')).toMatchInlineSnapshot(`
    "
    ID                                    TYPE         QUEUE    STATE      ATTEMPT  CREATED
    ID-2................................  report.make  default  discarded      1/1  5s ago
    ID-1................................  email.send   email    available      0/3  1m 35s ago
    "
  `);
});

test('list: filters and pages', async () => {
  expect(await terminal.text('jobs', 'list', '--state', 'available,active', '--queue', 'email')).toMatchInlineSnapshot(`
    "
    ID                                    TYPE        QUEUE  STATE      ATTEMPT  CREATED
    ID-1................................  email.send  email  available      0/3  1m 35s ago
    "
  `);
  expect(await terminal.text('jobs', 'list', '--type', 'no.such')).toBe('\nNo jobs.\n');
  const { raw } = await terminal.run('jobs', 'list', '--limit', '1', '--json');
  const { cursor } = (JSON.parse(raw) as { pagination: { cursor: string } }).pagination;
  expect((await terminal.run('jobs', 'list', '--limit', '1')).raw).toContain(`more with --cursor ${cursor}`);
  expect(await terminal.text('jobs', 'list', '--limit', '1', '--cursor', cursor)).toMatchInlineSnapshot(`
    "
    ID                                    TYPE        QUEUE  STATE      ATTEMPT  CREATED
    ID-1................................  email.send  email  available      0/3  1m 35s ago
    "
  `);
});

test('list --json: the words of the HTTP interface', async () => {
  expect(await terminal.json('jobs', 'list', '--queue', 'email')).toMatchInlineSnapshot(`
    {
      "jobs": [
        {
          "args": [
            "ada",
          ],
          "attempt": 0,
          "created_at": "2030-01-01T00:00:00.000Z",
          "enqueued_at": "2030-01-01T00:00:00.000Z",
          "id": "ID-1................................",
          "max_attempts": 3,
          "meta": {},
          "priority": 0,
          "queue": "email",
          "run": 0,
          "specversion": "1.0",
          "state": "available",
          "type": "email.send",
        },
      ],
      "pagination": {
        "has_more": false,
        "limit": 50,
      },
    }
  `);
});

test('show: facts, errors and timeline', async () => {
  expect(await terminal.text('jobs', 'show', terminal.id(2))).toMatchInlineSnapshot(`
    "
    id        ID-2................................
    type      report.make
    state     discarded (dead letter)
    queue     default
    attempt   1 of 1
    created   2030-01-01T00:01:30.000Z (5s ago)
    started   2030-01-01T00:01:30.000Z (5s ago)
    finished  2030-01-01T00:01:30.000Z (5s ago)
    args      []
    retry     {"max_attempts":1,"on_exhaustion":"dead_letter"}

    Errors
      #1 2030-01-01T00:01:30.000Z failed disk_full: It was disk_full.

    Timeline
    TIME                      AFTER  EVENT      RUN  DATA
    2030-01-01T00:01:30.000Z         enqueued
    2030-01-01T00:01:30.000Z         started      1  {"worker_id":"worker-1"}
    2030-01-01T00:01:30.000Z         failed       1  {"error":{"code":"disk_full","message":"It was disk_full.","retryable":true}}
    2030-01-01T00:01:30.000Z         discarded    1  {"total_attempts":1,"dead_letter":true,"last_error":{"code":"disk_full","message":"It was disk_full."}}
    "
  `);
});

test('show --json: the job and its events', async () => {
  const shown = await terminal.json('jobs', 'show', terminal.id(2));
  expect(shown).toMatchObject({
    job: { type: 'report.make', state: 'discarded', dead_letter: true, error: { code: 'disk_full' } },
    events: [{ type: 'job.enqueued' }, { type: 'job.started' }, { type: 'job.failed' }, { type: 'job.discarded' }],
  });
});

test('cancel: one that refuses does not keep the others', async () => {
  expect(await terminal.text('jobs', 'cancel', terminal.id(2), terminal.id(1))).toMatchInlineSnapshot(`
    "
    exit 8
    ID-1................................ cancelled
    waybill: Job ID-2................................ is discarded; a finished job cannot be cancelled.
    "
  `);
  expect(await terminal.json('jobs', 'cancel', terminal.id(2))).toMatchInlineSnapshot(`
    {
      "errors": [
        {
          "code": "conflict",
          "job_id": "ID-2................................",
          "message": "Job ID-2................................ is discarded; a finished job cannot be cancelled.",
        },
      ],
      "jobs": [],
    }
  `);
});

test('D2: retry runs every finished job again, however it ended; what lives is refused', async () => {
  expect(await terminal.text('jobs', 'retry', terminal.id(2))).toMatchInlineSnapshot(`
    "
    ID-2................................ starts over
    "
  `);
  expect(await terminal.text('jobs', 'retry', terminal.id(1))).toMatchInlineSnapshot(`
    "
    exit 8
    waybill: Job ID-1................................ is available; only a finished job can be run again.
    "
  `);
  await terminal.run('jobs', 'cancel', terminal.id(1));
  expect(await terminal.text('jobs', 'retry', terminal.id(1))).toBe(`
ID-1................................ starts over
`);
  await terminal.settle({ kind: 'completed', result: 1 }, { queue: 'email' });
  const again = { state: 'available', attempt: 0 };
  expect(await terminal.json('jobs', 'retry', terminal.id(1))).toMatchObject({ jobs: [again] });
  expect(await terminal.text('jobs', 'show', '01940000-0000-7000-8000-000000000001')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: There is no job ID-3.................................
      Check the id; finished jobs are removed after the retention time.
    "
  `);
});

test('texts of others cannot take over the terminal', async () => {
  terminal.now = EPOCH + 200_000;
  await terminal.run('enqueue', 'a.b', '--queue', 'evil', '--retry', '{"max_attempts":1}');
  await terminal.settle(
    { kind: 'failed', error: { code: 'evil', message: 'red \u001b[31m\nnext' } },
    { queue: 'evil' },
  );
  const { out } = await terminal.run('jobs', 'show', terminal.id(3));
  expect(out).toContain('evil: red  [31m next');
  expect(out).not.toContain('\u001b');
});

test('D6: show colours the state of a job and of a queue, and the text stays the same', async () => {
  const plain = await terminal.run('jobs', 'show', terminal.id(2));
  const plainQueue = await terminal.run('queues', 'show', 'email');
  terminal.isTty = true;
  const job = await terminal.run('jobs', 'show', terminal.id(2));
  expect(job.out).toContain('\u001b[31mdiscarded (dead letter)\u001b[39m\n');
  expect(stripVTControlCharacters(job.out)).toBe(plain.out);
  const queue = await terminal.run('queues', 'show', 'email');
  expect(queue.out).toContain('\u001b[36mactive\u001b[39m\n');
  expect(stripVTControlCharacters(queue.out)).toBe(plainQueue.out);
});

test('show tells how far a run is', async () => {
  const terminal = new Terminal();
  await terminal.run('enqueue', 'a.b');
  const id = await terminal.engine(async ({ jobs }) => {
    const [lease] = await jobs.claim({ queues: ['default'], workerId: 'w1' });
    const run = { id: lease!.job.id, leaseToken: lease!.token };
    await jobs.report({ ...run, fraction: 0.425, data: { rows: 17 } });
    return run.id;
  });
  expect(await terminal.text('jobs', 'show', id)).toContain('progress  43 % {"rows":17}');
});

test('isolation: list names a row that cannot be read, and shows the others', async () => {
  const db = new DatabaseSync(terminal.store.replace('sqlite:', ''));
  db.prepare(`update jobs set spec = '{' where id = ?`).run(terminal.id(1));
  db.close();
  const { raw } = await terminal.run('jobs', 'list');
  expect(raw).toContain('report.make');
  expect(raw).toContain(`cannot be read: ${terminal.id(1)}\n`);
  const json = (await terminal.run('jobs', 'list', '--json')).raw;
  expect(JSON.parse(json)).toMatchObject({ unreadable: [terminal.id(1)] });
});
