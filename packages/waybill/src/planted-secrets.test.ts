import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { engine, folderBlobStore, lineLogger, type Waybill, WaybillError } from '@waybill/core';
import { type Fault, faultyStore, memoryStore, type StoreMethod, TestClock } from '@waybill/core/testing';
import { createApp } from '@waybill/server';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, task } from './index.ts';
import { Planted } from './testing/planted.ts';
import { runCommand } from './testing/run-command.ts';
import { ServerProcess } from './testing/server-process.ts';
import { execute, tempDatabase } from './testing/temp-database.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-planted-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const planted = new Planted();
const { password, awsKeyId, awsSecret, apiKey, jwt, postgres } = planted;
const ENV = { ...planted.env, NO_COLOR: '1', WAYBILL_LOG: 'debug' };

const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => runCommand(args, folder, { ...ENV, ...env });

test('the grep finds what is planted', () => {
  expect(planted.foundIn(planted.everything)).toEqual([
    ...['password', 'awsKeyId', 'awsSecret', 'session', 'signature', 'apiKey', 'jwt', 'jwtBody', 'webhook'],
  ]);
  const encoded = planted.headers.map((headers) => planted.foundIn(JSON.stringify(headers)).length > 0);
  expect(encoded).toEqual([true, true, true, true, false]);
});

describe('the command says what is wrong, and no secret', () => {
  const dynamo = 'dynamodb://us-east-1/jobs?endpoint=http://127.0.0.1:1';
  const withUser = `http://${awsKeyId}:${awsSecret}@127.0.0.1:1`;
  test.concurrent.for<[why: string, args: string[], env?: Record<string, string>]>([
    ['a database that refuses connections', ['doctor', '--store', postgres]],
    ['the same for machines', ['doctor', '--json'], { WAYBILL_STORE: postgres }],
    ['a host that does not exist', ['doctor', '--store', postgres.replace('127.0.0.1:1', 'nowhere.invalid')]],
    ['a port that is none', ['jobs', 'list', '--store', `postgres://ada:${password}@db:port/jobs`]],
    ['a password that is not encoded', ['jobs', 'list', '--store', `postgres://ada:a@b/${password}@db/jobs`]],
    ['a misspelt scheme', ['jobs', 'list', '--store', postgres.replace('postgres', 'postgers')]],
    ['a misspelt option', ['jobs', 'list', '--stor', postgres]],
    ['a misspelt option with its value', ['jobs', 'list', `--stor=${postgres}`]],
    ['an address as a command', [postgres]],
    ['an address as a word too many', ['queues', 'list', postgres]],
    ['an address as JSON', ['enqueue', 'a.b', postgres]],
    ['DynamoDB that refuses connections', ['doctor', '--store', dynamo]],
    ['credentials in an endpoint', ['jobs', 'list', '--store', dynamo.replace('http://127.0.0.1:1', withUser)]],
    ['credentials of a server', ['jobs', 'list', '--store', withUser]],
    ['a server that is not there', ['jobs', 'list', '--store', 'http://127.0.0.1:1']],
    [
      'queues with credentials',
      ['serve', '--store', 'sqlite::memory:', '--transport', `sqs://r/p?endpoint=${withUser}`],
    ],
    ['blobs with credentials', ['serve', '--store', 'sqlite::memory:', '--blobs', `s3://b?endpoint=${withUser}`]],
    ['a key as an id', ['jobs', 'show', apiKey, '--store', `sqlite:${path.join(folder, 'ids.db')}`]],
    ['a key as a tenant', ['jobs', 'list', '--tenant', `${apiKey} ${jwt}`, '--store', 'sqlite::memory:']],
  ])('%s', async ([, args, env], { expect: expectHere }) => {
    const { code, text } = await command(args, env);
    expectHere(planted.foundIn(text)).toEqual([]);
    expectHere([code, text.length > 20]).toEqual([expectHere.any(Number), true]);
    expectHere(code).not.toBe(0);
  });

  test('a server that sends back what it was sent, as a proxy’s error page may', async () => {
    const echo = createServer((request, response) => {
      const status = Number(/\d{3}/.exec(request.url ?? '')?.[0] ?? 500);
      response.writeHead(status, { 'Content-Type': 'application/json' });
      const message = `${planted.everything} ${JSON.stringify(request.headers)}`;
      response.end(JSON.stringify({ error: { code: 'forbidden', message, hint: message, details: { message } } }));
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void echo.close());
    const { port } = echo.address() as AddressInfo;
    for (const args of [['jobs', 'list'], ['doctor'], ['queues', 'pause', 'mail']]) {
      const { text } = await command([...args, '--store', `http://127.0.0.1:${port}`]);
      expect([args, planted.foundIn(text)]).toEqual([args, []]);
    }
  });
});

// fault: the database goes away under a running server
test('a real server and its log, with secrets in its address and in all headers', async () => {
  const database = new URL(await tempDatabase());
  const role = `planted_${process.pid}`;
  await execute(database.href, `create role ${role} login superuser password '${password}'`);
  onTestFinished(() => execute(new URL('/postgres', database).href, `drop role ${role}`).then(() => {}));
  const address = Object.assign(new URL(database), { username: role, password });
  const server = await ServerProcess.start(
    ['serve', '--port', '0', '--log-format', 'json', '--store', address.href],
    ENV,
  );
  onTestFinished(async () => void (await server.end('SIGKILL')));
  const answers: string[] = [];
  const ask = async (where: string, headers: Record<string, string>, init: RequestInit = {}) => {
    const response = await fetch(server.url + where, { headers, ...init });
    const told = JSON.stringify([...response.headers]);
    answers.push(`${response.status} ${told} ${await response.text()}`);
    return response.status;
  };
  const paths = [
    '/health',
    '/ready',
    '/ojs/v1/jobs',
    `/ojs/v1/jobs/${apiKey}`,
    `/ojs/v1/jobs?state=${jwt}`,
    '/nothing',
  ];
  for (const headers of planted.headers) for (const where of paths) await ask(where, headers);
  const body = { method: 'POST', body: `{"type":"a.b","args":["${planted.presigned}` };
  await ask('/ojs/v1/jobs', { 'Content-Type': 'application/json' }, body);
  await execute(new URL('/postgres', database).href, `drop database ${database.pathname.slice(1)} with (force)`);
  await execute(new URL('/postgres', database).href, `create database ${database.pathname.slice(1)}`);
  expect(await ask('/ojs/v1/jobs', planted.headers[0]!)).toBeGreaterThanOrEqual(500);
  for (const where of paths) await ask(where, planted.headers[0]!);
  // The log tells of the fault, whenever the server notices it.
  await server.printed(/connection to PostgreSQL was lost/);
  await server.end('SIGTERM');
  expect(planted.foundIn(answers.join('\n'))).toEqual([]);
  expect(planted.foundIn(server.output)).toEqual([]);
});

test('the log for machines, whatever is logged', async () => {
  const code = `
    import { commandLogger } from ${JSON.stringify(new URL('../dist/cli/command-logger.js', import.meta.url).href)};
    const logger = await commandLogger({ 'log-format': 'json' }, { env: {}, isErrTty: false });
    const text = process.env.PLANTED;
    logger.error({ err: new Error(text, { cause: new Error(text) }), headers: { authorization: text }, text }, text);`;
  const lines = await new Promise<string>((resolve) => {
    const env = { ...process.env, PLANTED: planted.everything };
    const args = ['--input-type=module', '-e', code];
    execFile(process.execPath, args, { env }, (_error, _stdout, stderr) => resolve(stderr));
  });
  expect(planted.foundIn(lines)).toEqual([]);
  expect(JSON.parse(lines)).toMatchObject({ level: 50, msg: expect.stringContaining('connect ECONNREFUSED') });
});

/** All that the engine has written down, for every tenant. */
async function written(waybill: Waybill, tenants: readonly string[]): Promise<string> {
  const { events } = await waybill.events.read({ filter: { tenant: '*' }, limit: 1_000 });
  const of = tenants.map(async (tenant) => [
    ...[await waybill.jobs.list({ filter: { tenant }, limit: 1_000 }), await waybill.crons.list({ tenant })],
    ...[await waybill.keys!.list({ tenant }), await waybill.workers.list({ tenant })],
  ]);
  return JSON.stringify([events, ...(await Promise.all(of))]);
}

// fault: every call of the store fails with a text that holds secrets
test('a store whose errors are full of secrets: answers, log, events, audit, health', async () => {
  const clock = new TestClock();
  const plan: Fault[] = [];
  const store = faultyStore(memoryStore({ clock }), plan);
  const log: string[] = [];
  const logger = lineLogger({ write: (text) => void log.push(text), now: () => clock.now(), least: 'debug' });
  const waybill = engine({ store, logger, maintenance: false });
  onTestFinished(() => waybill.close());
  const { secret, key } = await waybill.keys!.create({ name: 'ops', scopes: ['admin'] });
  const { jobs, identify } = { ...waybill, identify: waybill.keys!.identify };
  await jobs.enqueue({ type: 'a.b', args: [] });
  const app = createApp({
    ...{ waybill, logger, clock, version: '0' },
    auth: async (asking) => {
      const holder = await identify((asking.header('x-api-key') ?? '') as string);
      if (!holder) throw new WaybillError('unauthenticated', 'The key is unknown.');
      return holder.principal;
    },
  });
  const cause = new Error(planted.everything, { cause: new Error(planted.everything) });
  const errors = [
    cause,
    new WaybillError('unavailable', planted.everything, {
      cause,
      hint: planted.everything,
      details: { reason: planted.everything, list: [planted.postgres] },
    }),
  ];
  const answers: string[] = [];
  const methods: StoreMethod[] = [
    'list',
    'get',
    'insert',
    'claim',
    'queues.list',
    'queues.stats',
    'queues.pause' as StoreMethod,
  ];
  for (const error of errors) {
    for (const method of [...methods, 'events.tell', 'events.read', 'records.get', 'crons.list'] as StoreMethod[])
      plan.push({ method, call: store.calls(method) + 1, when: 'before', error });
    const json = { 'Content-Type': 'application/json', 'x-api-key': secret };
    for (const [method, where, body] of [
      ...[
        ['GET', '/ojs/v1/jobs'],
        ['GET', '/ojs/v1/queues'],
        ['GET', '/ojs/v1/queues/q'],
        ['GET', '/ojs/v1/cron'],
      ],
      ...[
        ['GET', '/ojs/v1/events'],
        ['GET', '/health'],
        ['GET', '/ready'],
        ['GET', '/waybill/v1/audit'],
      ],
      ...[
        ['POST', '/ojs/v1/queues/q/pause'],
        ['GET', '/waybill/v1/incidents/x'],
      ],
      ['POST', '/ojs/v1/jobs', '{"type":"a.b","args":[]}'],
      ['POST', '/ojs/v1/workers/fetch', '{"queues":["q"]}'],
      ['DELETE', `/ojs/v1/cron/${apiKey}`],
      ['POST', `/ojs/v1/queues/${apiKey.replaceAll('_', '-').toLowerCase()}/pause`],
      ['GET', `/waybill/v1/audit?principal=${jwt}&since=${planted.session}`],
    ] as [string, string, string?][]) {
      const response = await app.request(where, { method, headers: json, ...(body !== undefined && { body }) });
      answers.push(`${method} ${where.slice(0, 20)} ${response.status} ${await response.text()}`);
    }
  }
  for (const headers of planted.headers) {
    const response = await app.request('/ojs/v1/jobs', { headers });
    expect(response.status).toBe(401);
    answers.push(await response.text());
  }
  for (const answer of answers)
    expect([answer.slice(0, 40), planted.foundIn(answer)]).toEqual([answer.slice(0, 40), []]);
  for (const line of log) expect([line.slice(0, 80), planted.foundIn(line)]).toEqual([line.slice(0, 80), []]);
  expect(log.length).toBeGreaterThan(3);
  const all = await written(waybill, ['']);
  expect(planted.foundIn(all)).toEqual([]);
  expect(all).toContain(key.id);
  expect(all).not.toContain(secret.slice(-43));
});

test('a handler whose errors and reports are full of secrets: rows, events and log', async () => {
  const log: string[] = [];
  const logger = lineLogger({ write: (text) => void log.push(text), now: () => 0, least: 'debug' });
  const waybill = await connect('sqlite::memory:', { logger });
  onTestFinished(() => waybill.close());
  const fail = task('a.fail', {
    retry: { max_attempts: 1 },
    run: async () => {
      throw new Error(planted.everything, { cause: new Error(planted.everything) });
    },
  });
  const worker = waybill.work([fail]);
  const job = await waybill.enqueue(fail, undefined);
  await expect(waybill.wait(job)).rejects.toThrow();
  const row = await waybill.jobs.get(job.id);
  const { events } = await waybill.events.read();
  await worker.stop();
  expect(row.errors).toHaveLength(1);
  expect(planted.foundIn(JSON.stringify([row, events]))).toEqual([]);
  expect(log.filter((line) => planted.foundIn(line).length > 0)).toEqual([]);
  expect(log.length).toBeGreaterThan(0);
});

test('a pre-signed address is in the answer to whoever may read the job, and nowhere else', async () => {
  const clock = new TestClock();
  const log: string[] = [];
  const logger = lineLogger({ write: (text) => void log.push(text), now: () => clock.now(), least: 'debug' });
  const blobs = {
    store: { ...folderBlobStore(path.join(folder, 'blobs')), presign: async () => planted.presigned },
    threshold: 100,
  };
  const waybill = engine({ store: memoryStore({ clock }), blobs, logger, maintenance: false });
  onTestFinished(() => waybill.close());
  const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: ['x'.repeat(2_000_000)] });
  const app = createApp({ waybill, logger, clock, version: '0' });
  const answer = await (await app.request(`/ojs/v1/jobs/${job.id}`)).text();
  expect(planted.foundIn(answer)).toContain('signature');
  expect(planted.foundIn((await written(waybill, [''])) + log.join('\n'))).toEqual([]);
});
