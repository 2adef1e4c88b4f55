import type { LogEvent, NewJob, Store, SubjectEvent, SubjectEventType, Told } from '@waybill/core';
import { silentLogger } from '@waybill/core';
import { aCron, aJob, aWorkflow, someJobs, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from './link/migrate.ts';
import { readMigrations } from './link/migration-files.ts';
import { readAll } from './queries.ts';
import { postgresStore } from './store.ts';
import { startProxy } from './testing/proxy.ts';
import { execute, postgresUrl, tempClient, tempLink, tempSchema, tempStore } from './testing/server.ts';

const filter = { tenant: '*' };

const told = (type: SubjectEventType, subject: string): Told => ({ type, tenant: '', subject, at: 5, data: {} });

const eventsOf = async (store: Store): Promise<LogEvent[]> =>
  (await store.events.read({ filter, limit: 1_000 })).events;

const shortLog = async (store: Store): Promise<string[]> =>
  (await eventsOf(store)).map(({ type, subject, sequence }) => `${subject} ${type} ${sequence}`);

async function bench() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const open = () => tempStore(postgresStore, { url, schema, listen: false });
  const run = (text: string) => execute(url, text.replaceAll('{schema}', `"${schema}"`));
  return { url, schema, open, run, store: await open() };
}

/** Resolves once so many calls wait for a lock of this table's rows. */
async function waiting(run: (text: string) => Promise<unknown[][]>, table: string, count = 1): Promise<void> {
  const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%{schema}.${table}%'`;
  while ((await run(blocked)).length < count);
}

// fault: another transaction holds the subject and commits late
test('guarantee 4: of two writers of a subject the second draws its segment after the first has committed', async () => {
  const { url, schema, store, run } = await bench();
  const link = await tempLink({ url, schema, migrate: false });
  const sql = readAll((text) => link.sql(text));
  const first = await tempClient(url);
  await first.query('begin');
  await first.query(sql['subjects-count'], ['{""}', '{key}', '{s}', '{1}', null]);
  const second = store.events.tell([told('key.noted', 's')]);
  await waiting(run, 'subjects');
  const event = JSON.stringify(['key.opened', 's', '', '', 0, 0, 1, 5]);
  await first.query(sql['segment-append'], [5, 1, `[${event}]`]);
  await first.query('commit');
  await second;
  expect(await shortLog(store)).toEqual(['s key.opened 1', 's key.noted 2']);
});

// fault: two transactions take the subjects in opposite orders
test('guarantee 4: writers of several subjects in any order neither wait for each other for ever nor lose a number', async () => {
  const { store, open } = await bench();
  const stores = [store, await open()];
  const subjects = ['a', 'b', 'c'];
  const write = async (to: Store, names: readonly string[]) => {
    for (let turn = 0; turn < 10; turn += 1) await to.events.tell(names.map((name) => told('key.noted', name)));
  };
  await Promise.all(stores.flatMap((to) => [write(to, subjects), write(to, subjects.toReversed())]));
  const events = await eventsOf(store);
  for (const name of subjects) {
    const numbers = events.filter(({ subject }) => subject === name).map(({ sequence }) => sequence);
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  }
});

test('what two calls make of a queue or a worker at the same moment is told once', async () => {
  const { url, schema, store, run } = await bench();
  const rival = await tempClient(url);
  await rival.query('begin');
  await rival.query(`insert into "${schema}".queues (tenant, name) values ('', 'q')`);
  const pausing = [1, 2].map(() => store.queues.setPaused('', 'q', true, told('queue.paused', 'q')));
  await waiting(run, 'queues', 2);
  await rival.query('commit');
  expect(await Promise.all(pausing)).toMatchObject([{ paused: true }, { paused: true }]);
  const beat = { tenant: '', id: 'w', activeJobs: 0, now: 5, told: told('worker.started', 'w') };
  await rival.query('begin');
  await rival.query(`lock table "${schema}".workers in share mode`);
  const beating = [1, 2].map(() => store.workers.beat(beat));
  await waiting(run, 'workers', 2);
  await rival.query('commit');
  expect(await Promise.all(beating)).toEqual(['running', 'running']);
  expect(await shortLog(store)).toEqual(['q queue.paused 1', 'w worker.started 1']);
});

// fault: the connection breaks at the commit, and its answer is lost
test('guarantee 4: a call whose answer was lost at its commit is made again and tells nothing twice', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  const schema = tempSchema(url);
  const store = await postgresStore({ url: proxy.url, schema, listen: false, logger: silentLogger });
  onTestFinished(() => store.close());
  const lossy = async <T>(call: () => Promise<T>): Promise<T> => {
    const before = proxy.connections;
    proxy.loseAnswerTo('commit\0');
    const answer = await call();
    expect(proxy.connections).toBeGreaterThan(before);
    return answer;
  };
  const key = { tenant: '', kind: 'key', id: 'k' };
  await lossy(() => store.events.tell([told('key.noted', 'i'), told('key.noted', 'i')]));
  await lossy(() => store.crons.put(aCron({ name: 'c' }), told('cron.registered', 'c')));
  await lossy(() => store.records.put([{ ...key, value: {}, expected: 0, told: told('key.made', 'k') }]));
  await lossy(() => store.records.remove(key, undefined, told('key.removed', 'k')));
  await lossy(() => store.queues.setPaused('', 'q', true, told('queue.paused', 'q')));
  await lossy(() =>
    store.workers.beat({ tenant: '', id: 'w', activeJobs: 0, now: 5, told: told('worker.started', 'w') }),
  );
  await lossy(() => store.workers.direct('', 'w', 'quiet', told('worker.quiet', 'w')));
  await store.events.tell([told('key.noted', 'i')]);
  expect(await shortLog(store)).toEqual([
    'i key.noted 1',
    'i key.noted 2',
    'c cron.registered 1',
    'k key.made 1',
    'k key.removed 2',
    'q queue.paused 1',
    'w worker.started 1',
    'w worker.quiet 2',
    'i key.noted 3',
  ]);
});

// fault: the connection breaks at the commit, and a rival undoes the change before the call is repeated
test('guarantee 10: a call whose answer was lost does not undo what another call did meanwhile', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  const schema = tempSchema(url);
  const options = { schema, listen: false, logger: silentLogger };
  const store = await tempStore(postgresStore, { ...options, url: proxy.url });
  const rival = await tempStore(postgresStore, { ...options, url });
  const resume = () => rival.queues.setPaused('', 'q', false, told('queue.resumed', 'q'));
  proxy.loseAnswerTo('commit\0', resume);
  expect(await store.queues.setPaused('', 'q', true, told('queue.paused', 'q'))).toMatchObject({ paused: true });
  expect(await store.queues.list('')).toMatchObject([{ name: 'q', paused: false }]);
  await store.workers.beat({ tenant: '', id: 'w', activeJobs: 0, now: 5 });
  const run = () => rival.workers.direct('', 'w', 'running', told('worker.resumed', 'w'));
  proxy.loseAnswerTo('commit\0', run);
  expect(await store.workers.direct('', 'w', 'quiet', told('worker.quiet', 'w'))).toMatchObject({ directive: 'quiet' });
  expect(await store.workers.list('')).toMatchObject([{ directive: 'running' }]);
  expect(await shortLog(store)).toEqual([
    'q queue.paused 1',
    'q queue.resumed 2',
    'w worker.quiet 1',
    'w worker.resumed 2',
  ]);
});

test('the beat of a worker that is known is one statement', async () => {
  const { url, schema, store } = await bench();
  const beat = { tenant: '', id: 'w', activeJobs: 0, now: 5, told: told('worker.started', 'w') };
  await store.workers.beat(beat);
  const proxy = await startProxy(url);
  const watched = await tempStore(postgresStore, { url: proxy.url, schema, listen: false, clock: new TestClock() });
  // Nothing may begin a transaction: its answer would be lost, and the call made again on another connection.
  proxy.loseAnswerTo('begin isolation');
  const before = proxy.connections;
  expect(await watched.workers.beat({ ...beat, activeJobs: 2, now: 6 })).toBe('running');
  expect(proxy.connections).toBe(before);
  expect(await watched.workers.list('')).toMatchObject([{ activeJobs: 2, firstSeenAt: 5, lastSeenAt: 6 }]);
});

test('the counter of a workflow is pruned with it, those of others stay', async () => {
  const { store, run } = await bench();
  const counters = () => run('select kind, subject, count::int from {schema}.subjects order by kind, subject');
  const end = { tenant: '', from: 'running', to: 'completed', now: 5, jobs: [] } as const;
  for (const id of ['ended', 'running']) {
    await store.insert([{ jobs: [aJob()], edges: [], workflow: { create: aWorkflow({ id, total: 1 }) } }]);
    await store.workflows.move({ ...end, id, told: told('workflow.completed', id) });
  }
  await store.workflows.move({ ...end, id: 'running', from: 'completed', to: 'running' });
  await store.queues.setPaused('', 'q', true, told('queue.paused', 'q'));
  const [queue, ended, running] = [
    ['queue', 'q', 1],
    ['workflow', 'ended', 1],
    ['workflow', 'running', 1],
  ];
  expect(await counters()).toEqual([queue, ended, running]);
  await store.prune({ finishedBefore: 6, deadBefore: 6, eventsBefore: 0, limit: 100 });
  expect(await store.workflows.get('', 'ended')).toBeNull();
  expect(await counters()).toEqual([queue, running]);
});

const started = (subject: string, jobId?: string): SubjectEvent => ({
  ...{ type: 'workflow.started', tenant: '', subject, source: 'server', sequence: 1, at: 5, data: {} },
  ...(jobId !== undefined && { jobId }),
});

test('what a job tells of something else is never taken for an event of the job, however many come together', async () => {
  const { store } = await bench();
  const groups = someJobs(8).map(({ job }, n) => ({ jobs: [{ job, events: [started(`flow-${n}`)] }] }));
  await store.insert(groups);
  expect((await eventsOf(store)).map(({ subject, jobId }) => [subject, jobId])).toEqual(
    groups.map((_, n) => [`flow-${n}`, undefined]),
  );
});

test('a queue that keeps nothing keeps what its jobs tell of something else, found by the job', async () => {
  const { store } = await bench();
  await store.queues.setKeep('', 'default', 'none');
  const make = (name: string): NewJob => {
    const { job, events } = aJob();
    return { job, events: [...events, started(name, job.id)] };
  };
  const [alone, ...others] = [make('alone'), make('first'), make('second')];
  await store.insert([{ jobs: [alone!] }]);
  await store.insert([{ jobs: others }]);
  expect(await shortLog(store)).toEqual(['alone', 'first', 'second'].map((name) => `${name} workflow.started 1`));
  for (const { job, events } of [alone!, ...others]) {
    const page = await store.events.read({ filter: { tenant: '', jobIds: [job.id] }, limit: 10 });
    expect(page.events).toMatchObject([events[1]]);
  }
});

test('a schema from before the events of queues and workers is brought up to date', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const link = await tempLink({ url, schema, migrate: false });
  await migrate(
    link,
    silentLogger,
    readMigrations().filter(({ number }) => number < 17),
  );
  await link.query(link.sql(`insert into {schema}.queues (tenant, name, paused) values ('', 'asleep', true)`));
  await link.query(link.sql(`insert into {schema}.workers values ('', 'w', 1, 5, 5, 'running')`));
  const store = await tempStore(postgresStore, { url, schema, listen: false });
  await store.queues.setPaused('', 'asleep', true, told('queue.paused', 'asleep'));
  await store.queues.setPaused('', 'asleep', false, told('queue.resumed', 'asleep'));
  const beat = { tenant: '', id: 'w', activeJobs: 1, now: 6, told: told('worker.started', 'w') };
  expect(await store.workers.beat(beat)).toBe('running');
  expect(await shortLog(store)).toEqual(['asleep queue.resumed 1']);
});
