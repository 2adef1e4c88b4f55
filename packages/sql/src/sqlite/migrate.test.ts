import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { aJob, TestClock } from '@waybill/core/testing';
import { describe, expect, it } from 'vitest';
import { migrate, migrations } from './migrate.ts';
import { openDatabase } from './open.ts';
import { sqliteStore } from './store.ts';
import { add, inChild, openStore, tempFile, tempFolder } from './testing/temp-store.ts';

const settings = { durability: 'full', wakeEveryMs: 25, busyTimeoutMs: 1000 } as const;

const pragma = (db: DatabaseSync, name: string) => Object.values(db.prepare(`pragma ${name}`).get()!)[0];

function schemaOf(path: string): unknown[] {
  const db = new DatabaseSync(path, { readOnly: true });
  const schema = db.prepare('select type, name, sql from sqlite_schema order by name').all();
  db.close();
  return schema;
}

const OURS = 0x57415942;

/** A file as the version had it whose last migration this was, with a queue, a worker and an event. */
function olderFile(version: number): string {
  const path = tempFile();
  const db = new DatabaseSync(path);
  for (const { number, name } of migrations()) {
    if (number <= version) db.exec(readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8'));
  }
  db.exec(`pragma application_id = ${OURS}; pragma user_version = ${version}`);
  db.exec(`insert into queues (tenant, name, paused) values ('', 'asleep', 1)`);
  db.exec(`insert into workers values ('', 'w', 1, 5, 5, 'running')`);
  const event = JSON.stringify(['job.enqueued', 'job-1', 'test.job', 'default', 0, 0, 1, 5]);
  db.prepare('insert into event_segments (at, first, count, body) values (5, 0, 1, ?)').run(`[${event}]`);
  db.close();
  return path;
}

describe('migrations', () => {
  it('are numbered without gaps', () => {
    expect(migrations().map(({ number }) => number)).toEqual(migrations().map((_, index) => index + 1));
  });

  it('make a new file with its folder, durable as asked for', () => {
    const path = join(tempFolder(), 'some', 'where', 'waybill.db');
    const full = openDatabase({ ...settings, path });
    expect(pragma(full, 'journal_mode')).toBe('wal');
    expect(pragma(full, 'synchronous')).toBe(2);
    expect(pragma(full, 'user_version')).toBe(migrations().length);
    full.close();
    const normal = openDatabase({ ...settings, path, durability: 'normal' });
    expect(pragma(normal, 'journal_mode')).toBe('wal');
    expect(pragma(normal, 'synchronous')).toBe(1);
    normal.close();
  });

  it('leave a file alone that is up to date, and everything in it', async () => {
    const path = tempFile();
    const first = await sqliteStore({ path });
    const [job] = await add(first, { spec: { args: [{ n: 1 }], meta: {} } });
    await first.queues.setPaused('', 'asleep', true);
    await first.limits.set('', 'k', { concurrency: 2, rate: null }, 5);
    await first.workers.beat({ tenant: '', id: 'w', activeJobs: 1, now: 5 });
    const events = await first.events.read({ filter: { tenant: '*' }, limit: 10 });
    await first.close();
    const schema = schemaOf(path);

    const again = await openStore({ path });
    expect(await again.get([job!])).toEqual([job]);
    expect(await again.queues.list('')).toHaveLength(2);
    expect(await again.limits.get('', 'k')).toMatchObject({ rule: { concurrency: 2 }, holders: 0 });
    expect(await again.workers.list('')).toHaveLength(1);
    expect(await again.events.read({ filter: { tenant: '*' }, limit: 10 })).toEqual(events);
    expect(schemaOf(path)).toEqual(schema);
  });

  it('of another process may come between any two reads of this one', () => {
    // The version, the mark of the file and its tables; the reads after these hold the lock.
    for (let behind = 1; behind <= 3; behind += 1) {
      const path = tempFile();
      const db = new DatabaseSync(path);
      db.exec('pragma journal_mode = wal');
      const prepare = db.prepare.bind(db);
      let seen = 0;
      db.prepare = (sql) => {
        seen += 1;
        if (seen === behind) openDatabase({ ...settings, path }).close();
        return prepare(sql);
      };
      migrate(db, path);
      expect(pragma(db, 'user_version')).toBe(migrations().length);
      expect(seen).toBeGreaterThan(behind);
      db.close();
    }
  });

  it('bring a file from before the events of queues and workers up to date', async () => {
    const path = olderFile(3);
    const store = await openStore({ path });
    const told = { tenant: '', at: 6, data: {} };
    await store.queues.setPaused('', 'asleep', true, { ...told, type: 'queue.paused', subject: 'asleep' });
    await store.queues.setPaused('', 'asleep', false, { ...told, type: 'queue.resumed', subject: 'asleep' });
    const beat = { tenant: '', id: 'w', activeJobs: 2, now: 6 };
    expect(await store.workers.beat({ ...beat, told: { ...told, type: 'worker.started', subject: 'w' } })).toBe(
      'running',
    );
    const { events } = await store.events.read({ filter: { tenant: '*' }, limit: 10 });
    expect(events.map(({ type, sequence }) => `${type} ${sequence}`)).toEqual(['job.enqueued 1', 'queue.resumed 1']);
    const fresh = tempFile();
    await (await sqliteStore({ path: fresh })).close();
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
  });

  // fault: an older version has stored the same node twice
  it('A4: leave nodes that were added twice as they are, and their name is taken from then on', async () => {
    const path = olderFile(4);
    const db = new DatabaseSync(path);
    db.exec("insert into workflows values ('', 'flow', 'dag', null, 'running', 'stop', '{}', 2, 5, null)");
    const node = db.prepare(`insert into jobs
      (tenant, id, type, queue, priority, seq, state, version, run, attempt, max_attempts, dead, holds_slot,
       advance_pending, created_at, workflow_id, node, spec)
      values ('', ?, 'test.job', 'default', 0, 1, 'pending', 1, 0, 0, 1, 0, 0, 0, 5, 'flow', 'a', '{"args":[],"meta":{}}')`);
    for (const id of ['one', 'two']) node.run(id);
    db.close();
    const store = await openStore({ path });
    expect(await store.count({ tenant: '', workflowId: 'flow' }, { atMost: 10 })).toBe(2);
    const adding = { jobs: [aJob({ workflowId: 'flow', node: 'a' })], workflow: { join: 'flow' } };
    expect(await store.insert([adding])).toEqual([{ status: 'named', index: 0 }]);
  });

  it('B15: keep a rule from before it was noted where rules come from, as somebody may have set it', async () => {
    const path = olderFile(5);
    const db = new DatabaseSync(path);
    db.exec("insert into limits (tenant, key, concurrency) values ('', 'with-rule', 1), ('', 'without', null)");
    db.close();
    const clock = new TestClock();
    const store = await openStore({ path, clock });
    const prune = () => {
      const unusedBefore = clock.now() - 1_000;
      return store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, unusedBefore, limit: 10 });
    };
    await prune();
    await clock.advance(86_400_000);
    await prune();
    expect(await store.limits.get('', 'with-rule')).toMatchObject({ rule: { concurrency: 1 } });
    expect(await store.limits.get('', 'without')).toBeNull();
  });

  it('run once when several processes open a new file at the same time', async () => {
    const path = tempFile();
    const code = `
      const store = await sqliteStore({ path });
      await store.insert([{ jobs: [aJob({ id: 'job-' + process.pid })] }]);
      await store.close();
      console.log('done');`;
    expect(await Promise.all([1, 2, 3, 4].map(() => inChild(path, code)))).toEqual(['done', 'done', 'done', 'done']);
    const store = await openStore({ path });
    expect(await store.count({ tenant: '' }, { atMost: 10 })).toBe(4);
  });

  it('refuse a file that a newer version has written', async () => {
    const path = tempFile();
    await (await sqliteStore({ path })).close();
    const db = new DatabaseSync(path);
    db.exec('pragma user_version = 9999');
    db.close();
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('newer version of Waybill: its schema is 9999'),
      hint: expect.stringContaining('Upgrade'),
    });
  });
});

describe('a path that cannot be used', () => {
  it('a file that is no database', async () => {
    const path = tempFile();
    writeFileSync(path, 'Dear diary, '.repeat(500));
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('not an SQLite database'),
    });
  });

  it("another program's database", async () => {
    const path = tempFile();
    const db = new DatabaseSync(path);
    db.exec('create table jobs (mine)');
    db.close();
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('another program'),
    });
    expect(schemaOf(path)).toHaveLength(1);
  });

  it('none at all', async () => {
    await expect(sqliteStore({ path: '' })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { field: 'path' },
    });
  });

  it('a folder', async () => {
    const path = join(tempFolder(), 'folder');
    mkdirSync(path);
    await expect(sqliteStore({ path })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(path),
    });
  });

  it('a folder that cannot be made', async () => {
    const file = tempFile();
    writeFileSync(file, '');
    await expect(sqliteStore({ path: join(file, 'sub', 'waybill.db') })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('cannot be created'),
    });
  });
});
