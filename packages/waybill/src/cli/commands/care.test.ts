import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { engine, systemClock } from '@waybill/core';
import { expect, test } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { checkNode } from '../checks/index.ts';
import { folder, Terminal } from '../testing/terminal.ts';

/** What differs from machine to machine. */
const anywhere = (text: string): string =>
  text
    .replaceAll(/Node\.js [\d.]+/g, 'Node.js N')
    .replaceAll(/\d+ MiB/g, 'N MiB')
    .replaceAll(/\d+ ms/g, 'N ms')
    .replaceAll(/\S*waybill-cli-\w+/g, 'FOLDER');

test('migrate makes a store, and then finds nothing to do', async () => {
  const terminal = new Terminal();
  expect(anywhere(await terminal.text('migrate'))).toMatchInlineSnapshot(`
    "
    FOLDER/test.db has schema 11, newly made
    "
  `);
  expect(anywhere(await terminal.text('migrate'))).toMatchInlineSnapshot(`
    "
    FOLDER/test.db has schema 11, nothing to do
    "
  `);
  expect(await terminal.json('migrate')).toMatchObject({ schema_version: 11, was: 11 });
  expect(await terminal.text('migrate', '--store', 'sqlite::memory:')).toMatchInlineSnapshot(`
    "
    A store in memory has the newest schema and ends with this command.
    "
  `);
  expect(await terminal.text('migrate', '--store', 'http://localhost:1')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: A server migrates its own store.
      Name the store itself with --store.
    "
  `);
});

test('doctor: all is well', async () => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  expect(anywhere(await terminal.text('doctor'))).toMatchInlineSnapshot(`
    "
    ok    node        Node.js N
    ok    file        FOLDER/test.db can be written to
    ok    disk        N MiB free
    ok    store       sqlite answers in N ms
    ok    schema      version 11
    ok    clock       2030-01-01T00:00:00.000Z
    ok    durability  full: what was answered survives a power cut
    "
  `);
  expect(await terminal.json('doctor')).toMatchObject({
    status: 'ok',
    checks: [{ name: 'node' }, { name: 'file' }, {}, {}, {}, {}, {}],
  });
});

test('doctor: a look makes no file', async () => {
  const terminal = new Terminal();
  expect(anywhere(await terminal.text('doctor'))).toMatchInlineSnapshot(`
    "
    ok    node        Node.js N
    warn  file        FOLDER/test.db does not exist
                      \`waybill migrate\` makes it.
    ok    disk        N MiB free
    ok    durability  full: what was answered survives a power cut
    "
  `);
  expect(anywhere(await terminal.text('jobs', 'list'))).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: There is no store FOLDER/test.db.
      Name it with --store or WAYBILL_STORE; \`waybill migrate\` makes a new one.
    "
  `);
});

test('doctor: a store in memory, a clock that is behind, normal durability', async () => {
  const terminal = new Terminal();
  await terminal.run('enqueue', 'a.b');
  terminal.now -= 3_600_000;
  const text = await terminal.text('doctor', '--store', `${terminal.store}?durability=normal`);
  expect(anywhere(text)).toMatchInlineSnapshot(`
    "
    ok    node        Node.js N
    ok    file        FOLDER/test.db can be written to
    ok    disk        N MiB free
    ok    store       sqlite answers in N ms
    ok    schema      version 11
    warn  clock       the newest job was created 1h from now
                      Let NTP set the clock.
    warn  durability  normal: the last moments before a power cut may be lost
    "
  `);
  expect(anywhere(await terminal.text('doctor', '--store', 'sqlite::memory:'))).toMatchInlineSnapshot(`
    "
    ok    node        Node.js N
    ok    store       sqlite answers in N ms
    ok    clock       2029-12-31T23:00:00.000Z
    warn  durability  in memory: every job is lost when the process ends
    "
  `);
});

test('doctor: fails with 1', async () => {
  const file = path.join(folder(), 'text.db');
  writeFileSync(file, 'this is no database '.repeat(1_000));
  expect(anywhere(await new Terminal(`sqlite:${file}`).text('doctor'))).toMatchInlineSnapshot(`
    "
    exit 1
    ok    node        Node.js N
    ok    file        FOLDER/text.db can be written to
    ok    disk        N MiB free
    fail  store       The file is not an SQLite database. FOLDER/text.db)
                      Check the path.
    ok    durability  full: what was answered survives a power cut
    "
  `);
  const other = path.join(folder(), 'a-folder');
  mkdirSync(other);
  expect((await new Terminal(`sqlite:${other}`).run('doctor')).code).toBe(1);
  expect(checkNode('22.12.0')).toMatchObject({ status: 'fail' });
  expect(checkNode('22.13.0')).toMatchObject({ status: 'ok' });
});

test.each(['SQLITE', 'Sqlite'])('D3: doctor makes no file where the scheme is written %s:', async (scheme) => {
  const file = path.join(folder(), 'upper.db');
  const terminal = new Terminal(`${scheme}:${file}`);
  expect(anywhere(await terminal.text('doctor'))).toMatchInlineSnapshot(`
    "
    ok    node        Node.js N
    warn  file        FOLDER/upper.db does not exist
                      \`waybill migrate\` makes it.
    ok    disk        N MiB free
    ok    durability  full: what was answered survives a power cut
    "
  `);
  expect((await terminal.run('jobs', 'list')).err).toContain('There is no store');
  expect(existsSync(file)).toBe(false);
});

test('D3: doctor says nothing about the durability of a store whose address is mistyped', async () => {
  expect(anywhere(await new Terminal('postgers://u:s3cret@h/db').text('doctor'))).toMatchInlineSnapshot(`
    "
    exit 1
    ok    node   Node.js N
    fail  store  The address 'postgers://h/db' cannot be used: 'postgers:' is none of sqlite, postgres, postgresql, dynamodb, http, https, grpc or grpcs. Did you mean 'postgres:'?
                 Use an address like sqlite:./waybill.db, postgres://user:password@host:5432/database, dynamodb://eu-west-1/jobs, http://localhost:8080 or grpc://localhost:9090.
    "
  `);
});

test('D10: doctor names jobs whose type no worker knows, and what to do', async () => {
  const terminal = new Terminal();
  for (const type of ['mail.sned', 'mail.sned', 'other.task']) {
    await terminal.run('enqueue', type);
    const message = `Worker worker-1 has no task '${type}'.${type === 'mail.sned' ? " Did you mean 'mail.send'?" : ''}`;
    await terminal.settle({ kind: 'snoozed', error: { code: 'unknown_type', message } });
  }
  expect(anywhere(await terminal.text('doctor'))).toMatchInlineSnapshot(`
    "
    ok    node        Node.js N
    ok    file        FOLDER/test.db can be written to
    ok    disk        N MiB free
    ok    store       sqlite answers in N ms
    ok    schema      version 11
    ok    clock       2030-01-01T00:00:00.000Z
    ok    durability  full: what was answered survives a power cut
    warn  tasks       3 jobs of 2 types handed back, newest ID-3................................ other.task in queue default: Worker worker-1 has no task 'other.task'.
                      Start a worker that has this task. If the type is mistyped, enqueue the job anew and cancel this one.
    "
  `);
  expect(await terminal.json('doctor')).toMatchObject({ status: 'warn' });
  const { items } = await terminal.engine(({ jobs }) => jobs.list({ limit: 10 }));
  expect(await terminal.text('jobs', 'show', items[0]!.id)).toContain(
    "unknown_type: Worker worker-1 has no task 'other.task'.",
  );
  for (const { id } of items.slice(0, 2)) await terminal.run('jobs', 'cancel', id);
  expect(await terminal.json('doctor')).toMatchObject({ status: 'warn' });
  // The last one is due, and a worker that knows it puts it off by itself.
  terminal.now += 5_000;
  const clock = { ...systemClock, now: () => terminal.now };
  const waybill = engine({ store: await openStore(terminal.store, { clock }) });
  const [lease] = await waybill.jobs.claim({ queues: ['default'], waitMs: 60_000 });
  const outcome = { kind: 'snoozed', until: terminal.now + 60_000 } as const;
  await waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
  await waybill.close();
  expect(await terminal.json('doctor')).toMatchObject({ status: 'ok' });
});
