import { expect, onTestFinished, test } from 'vitest';
import { LogBook } from '../testing/log-book.ts';
import { startPooler } from '../testing/pooler.ts';
import { startProxy } from '../testing/proxy.ts';
import { execute, postgresUrl, tempLink, tempTable } from '../testing/server.ts';
import type { Link } from './link.ts';

/** Remembers wake-ups, and lets a test wait for the next one. */
function wakes(link: Link) {
  const heard: (readonly string[] | undefined)[] = [];
  let tell = () => {};
  const end = link.onWake((queues) => {
    heard.push(queues);
    tell();
  });
  const next = async () => {
    if (heard.length === 0) {
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
    return heard.shift();
  };
  return { heard, next, end };
}

const notify = (link: Link, payload: string) => link.query(link.sql('select pg_notify({channel}, $1)'), [payload]);

test('another process is heard, and the names of the queues with it', async () => {
  const url = await postgresUrl();
  const here = await tempLink({ url, migrate: false });
  const there = await tempLink({ url, migrate: false, schema: here.schema });
  const { next } = wakes(here);
  // Whatever was said before the connection stood is made up for by one wake-up for everything.
  expect(await next()).toBeUndefined();
  await notify(there, '["a","b"]');
  expect(await next()).toEqual(['a', 'b']);
  for (const vague of ['', 'a', '{}', '[1]']) {
    await notify(there, vague);
    expect(await next(), vague).toBeUndefined();
  }
});

test('other schemas are not heard', async () => {
  const url = await postgresUrl();
  const here = await tempLink({ url, migrate: false });
  const elsewhere = await tempLink({ url, migrate: false });
  const { next, heard } = wakes(here);
  await next();
  await notify(elsewhere, '["other"]');
  await notify(here, '["mine"]');
  expect(await next()).toEqual(['mine']);
  expect(heard).toEqual([]);
});

test('a burst is told as one', async () => {
  const link = await tempLink({ migrate: false });
  const { next, heard } = wakes(link);
  await next();
  const burst = "select pg_notify({channel}, '[\"q' || n % 3 || '\",\"' || n || '\"]') from generate_series(1, 50) n";
  await link.query(link.sql(burst));
  const queues = new Set(await next());
  expect(heard.length).toBeLessThan(5);
  for (const more of heard) for (const queue of more ?? []) queues.add(queue);
  expect(queues).toContain('q0');
});

test('a lost connection is made again, and everybody is woken once', async () => {
  const url = await postgresUrl();
  const logger = new LogBook();
  const link = await tempLink({ url, migrate: false, logger });
  const first = wakes(link);
  const second = wakes(link);
  await Promise.all([first.next(), second.next()]);
  await execute(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and query like $1",
    [`%${link.schema}%`],
  );
  expect(await Promise.all([first.next(), second.next()])).toEqual([undefined, undefined]);
  expect([first.heard, second.heard]).toEqual([[], []]);
  await notify(link, '["a"]');
  expect(await first.next()).toEqual(['a']);
  expect(logger.messages('warn')).toEqual([]);
});

test('a connection whose other end went silent is noticed and made again', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  const link = await tempLink({
    url,
    listenUrl: proxy.url,
    migrate: false,
    queryTimeoutMs: 300,
    connectTimeoutMs: 300,
  });
  const { next } = wakes(link);
  await next();
  proxy.freeze();
  await notify(link, '["unheard"]');
  const before = proxy.connections;
  proxy.thaw();
  expect(await next()).toBeUndefined();
  expect(proxy.connections).toBeGreaterThan(before);
});

test('nobody is told after the end of a subscription, and a listener that throws harms no other', async () => {
  const logger = new LogBook();
  const link = await tempLink({ migrate: false, logger });
  link.onWake(() => {
    throw new Error('no');
  });
  const ended = wakes(link);
  const { next } = wakes(link);
  await next();
  await ended.next();
  ended.end();
  await notify(link, '["a"]');
  expect(await next()).toEqual(['a']);
  expect(ended.heard).toEqual([]);
  expect(logger.messages('error')).toContain('A listener of the PostgreSQL store failed.');
});

test('without a connection to listen on, calls go on; that is told once, and once when it is back', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  proxy.freeze();
  const logger = new LogBook();
  const link = await tempLink({ url, listenUrl: proxy.url, migrate: false, logger, connectTimeoutMs: 200 });
  const { next } = wakes(link);
  await logger.line('warn', /cannot be listened to/);
  expect(await link.query('select 1')).toEqual([[1]]);
  proxy.thaw();
  expect(await next()).toBeUndefined();
  const told = [...logger.messages('warn'), ...logger.messages('info')].filter((message) =>
    /listened to/.test(message),
  );
  expect(told).toHaveLength(2);
});

test('listening can be left out', async () => {
  const url = await postgresUrl();
  const link = await tempLink({ url, migrate: false, listen: false });
  const { next, heard } = wakes(link);
  await notify(link, '["a"]');
  const listening = "select count(*)::int from pg_stat_activity where query like 'listen%' and query like $1";
  expect(await execute(url, listening, [`%${link.schema}%`])).toEqual([[0]]);
  expect(heard).toEqual([]);
  // What happens in this process is told all the same.
  link.wake(['b']);
  expect(await next()).toEqual(['b']);
});

test('behind a transaction pooler everything works, with an address of its own to listen on', async () => {
  const url = await postgresUrl();
  const pooler = await startPooler(url, 2);
  const schema = `test_pooled_${process.pid}`;
  onTestFinished(async () => {
    await execute(url, `drop schema if exists "${schema}" cascade`);
  });
  const links = await Promise.all([1, 2].map(() => openPooled(pooler.url, url, schema)));
  const [here, there] = links as [Link, Link];
  const table = await tempTable(here);
  const { next } = wakes(here);
  await next();
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await Promise.all(
    numbers.map((n) =>
      n % 2 === 0
        ? here.query(table.insert, [n])
        : there.transaction(async (tx) => {
            await tx.query(table.insert, [n]);
            await tx.query(there.sql('select pg_notify({channel}, \'["pooled"]\')'));
          }),
    ),
  );
  expect(await next()).toEqual(['pooled']);
  expect(await table.numbers()).toEqual(numbers);
  expect(pooler.clients).toBeGreaterThan(2);
  expect(pooler.handovers).toBeGreaterThan(2);
});

const openPooled = (url: string, listenUrl: string, schema: string): Promise<Link> =>
  tempLink({ url, listenUrl, schema, migrate: false });
