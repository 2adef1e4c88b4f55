import type { Store } from '@waybill/core';
import { settleChange, someJobs } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from '../store.ts';
import { LogBook } from '../testing/log-book.ts';
import { postgresUrl, tempLink, tempSchema, tempStore } from '../testing/server.ts';
import { migrate, schemaVersion } from './migrate.ts';
import { migration, readMigrations } from './migration-files.ts';

/** What a next version may do to the tables that live workers use. */
const FOLLOW_UP = `
  alter table {schema}.jobs_live add column note text;
  alter table {schema}.job_bodies add column note text;
  alter table {schema}.job_ends add column note text;
  create index jobs_live_note on {schema}.jobs_live (note) where note is not null;
  create table {schema}.notes (id int primary key);
  create function {schema}.note_v2() returns int language sql as 'select count(*)::int from {schema}.notes';`;

let claims = 0;

/** Enqueues, claims and settles, as the engine of a live process does. */
class Life {
  readonly #store: Store;
  inserted = 0;
  settled = 0;
  rounds = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async until(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const answers = await this.#store.insert(someJobs(5).map((job) => ({ jobs: [job] })));
      this.inserted += answers.filter(({ status }) => status === 'inserted').length;
      await this.work();
      this.rounds += 1;
    }
  }

  /** Answers how many it settled. */
  async work(): Promise<number> {
    const now = this.#store.clock.now();
    const request = { tenant: '', queues: ['default'], limit: 10, workerId: 'w', leaseMs: 60_000, now };
    const [jobs = []] = await this.#store.claim([{ ...request, claimId: `claim-${claims++}` }]);
    const changes = jobs.map((job) => settleChange(job, { kind: 'completed', result: null }, now));
    const answers = await this.#store.apply(changes);
    const applied = answers.filter(({ status }) => status === 'applied').length;
    this.settled += applied;
    return applied;
  }
}

test('B15: a process of the version before opens and works on a newer schema that is compatible with it', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const known = readMigrations();
  const newest = known.at(-1)!.number;
  const next = (added: number, text: string) => migration(`${String(newest + added).padStart(4, '0')}_next.sql`, text);
  const link = await tempLink({ url, schema });
  const compatible = next(1, `--! compatible with ${newest}\n${FOLLOW_UP}`);
  await migrate(link, new LogBook(), [...known, compatible]);
  expect(await schemaVersion(link)).toBe(newest + 1);
  // This build knows the migrations up to `newest` only.
  const store = await tempStore(postgresStore, { url, schema });
  const life = new Life(store);
  await life.until(() => life.rounds > 3);
  while ((await life.work()) > 0);
  expect([life.inserted, life.settled]).toEqual([20, 20]);
  await migrate(link, new LogBook(), [...known, compatible, next(2, 'select 1;')]);
  await expect(tempStore(postgresStore, { url, schema })).rejects.toMatchObject({
    code: 'unsupported',
    details: { version: newest + 2, needed: newest + 2, known: newest },
  });
});

test('a migration runs while workers of the version before it are live', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const stores = await Promise.all([1, 2].map(() => tempStore(postgresStore, { url, schema })));
  const lives = stores.map((store) => new Life(store));
  const next = readMigrations().at(-1)!.number + 1;
  const all = [...readMigrations(), migration(`${String(next).padStart(4, '0')}_follow_up.sql`, FOLLOW_UP)];
  const rounds = () => Math.min(...lives.map((life) => life.rounds));

  let isOver = false;
  const living = Promise.all(lives.map((life) => life.until(() => isOver && rounds() > 40)));
  const link = await tempLink({ url, schema, migrate: false });
  await migrate(link, new LogBook(), all);
  expect(await schemaVersion(link)).toBe(next);
  const roundsBefore = rounds();
  isOver = true;
  await living;
  expect(rounds()).toBeGreaterThan(roundsBefore);

  while ((await lives[0]!.work()) > 0);
  const sum = (values: number[]) => values.reduce((all, one) => all + one, 0);
  expect(sum(lives.map(({ settled }) => settled))).toBe(sum(lives.map(({ inserted }) => inserted)));
  expect(await stores[0]!.count({ tenant: '', states: ['completed'] }, { atMost: 100_000 })).toBe(
    sum(lives.map(({ inserted }) => inserted)),
  );
  await expect(tempStore(postgresStore, { url, schema })).rejects.toMatchObject({ code: 'unsupported' });
});
