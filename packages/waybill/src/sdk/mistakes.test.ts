import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@waybill/core';
import { task } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from './connect.ts';
import { jobOf } from './task-job.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

/** What a mistake may take to be told. */
const SOON_MS = 2_000;

/** Answers the first warning, and how long it took to come. */
function firstWarning(): { logger: Logger; told: Promise<{ message: string; ms: number }> } {
  const begun = performance.now();
  const { promise: told, resolve } = Promise.withResolvers<{ message: string; ms: number }>();
  const nothing = () => {};
  const warn = (_: object, message: string) => resolve({ message, ms: performance.now() - begun });
  return { logger: { debug: nothing, info: nothing, error: nothing, warn }, told };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('D12: a server that is away is told of within two seconds, by its address', async () => {
  const { logger, told } = firstWarning();
  const waybill = await connect('http://127.0.0.1:1', { logger });
  onTestFinished(() => waybill.close());
  const { message, ms } = await told;
  expect(message).toBe('The server http://127.0.0.1:1 could not be reached. Calls fail until it answers.');
  expect(ms).toBeLessThan(SOON_MS);
});

test('D12: a server that never answers is told of within two seconds', async () => {
  const url = await listening(createServer(() => {}));
  const { logger, told } = firstWarning();
  const waybill = await connect(`${url}/jobs/`, { logger });
  onTestFinished(() => waybill.close());
  const { message, ms } = await told;
  expect(message).toBe(`The server ${url}/jobs has not answered within 1000 ms. Calls fail until it answers.`);
  expect(ms).toBeLessThan(SOON_MS);
});

test('D12: what a silent server answers at last is reported, too', async () => {
  const silence = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<string>();
  const respond = (_: unknown, answer: ServerResponse) => void silence.promise.then(() => answer.writeHead(404).end());
  const url = await listening(createServer(respond));
  const warn = (_: object, message: string) =>
    message.includes('has not answered') ? silence.resolve() : answered.resolve(message);
  const waybill = await connect(url, { logger: { ...firstWarning().logger, warn } });
  onTestFinished(() => waybill.close());
  expect(await answered.promise).toBe(`The server ${url} answers, but it is no Waybill server.`);
});

test('D12: a server of something else is told of', async () => {
  const url = await listening(createServer((_, answer) => answer.writeHead(404).end('nothing here')));
  const { logger, told } = firstWarning();
  const waybill = await connect(url, { logger });
  onTestFinished(() => waybill.close());
  expect((await told).message).toBe(`The server ${url} answers, but it is no Waybill server.`);
});

test('a server that asks for keys and tells strangers no more than its status is one of ours', async () => {
  const headers = { 'Content-Type': 'application/openjobspec+json', 'OJS-Version': '1.0' };
  const url = await listening(createServer((_, answer) => answer.writeHead(200, headers).end('{"status":"ok"}')));
  const warnings: unknown[] = [];
  const logger = { ...firstWarning().logger, warn: (...line: unknown[]) => void warnings.push(line) };
  const waybill = await connect(url, { logger, key: 'wb_abcdefghijkm_0123456789012345678901234567890123456789012' });
  onTestFinished(() => waybill.close());
  // Asked later, so the answer to the first question is there too.
  await waybill.health().catch(() => undefined);
  expect(warnings).toEqual([]);
});

test.each<[number, string, string, string]>([
  [200, '<html>hi</html>', 'answers, but it is no Waybill server.', 'Check the port'],
  [200, '{"status":"ok"}', 'answers, but it is no Waybill server.', 'Check the port'],
  [302, '', 'answers with status 302. Calls are refused.', 'Check the port'],
  [401, 'who are you?', 'answers with status 401. Calls are refused.', "in the option 'headers'"],
  [403, '{"error":{"code":"forbidden"}}', 'answers with status 403. Calls are refused.', "in the option 'headers'"],
  [502, '<html>Bad Gateway</html>', 'answers with status 502. Calls are refused.', 'runs behind what answers'],
])('D12: M5: an answer %i %s at connect is told of', async (status, body, why, advice) => {
  const url = await listening(createServer((_, answer) => answer.writeHead(status).end(body)));
  const told = Promise.withResolvers<[object, string]>();
  const logger = { ...firstWarning().logger, warn: (...line: [object, string]) => told.resolve(line) };
  const waybill = await connect(url, { logger });
  onTestFinished(() => waybill.close());
  const [fields, message] = await told.promise;
  expect(message).toBe(`The server ${url} ${why}`);
  expect(fields).toMatchObject({ status, hint: expect.stringContaining(advice) });
});

test.each([200, 503])('D12: M5: a Waybill server is not told of, whatever its store does (%i)', async (status) => {
  const health = JSON.stringify({ status: 'degraded', backend: { type: 'sqlite', status: 'ok', latency_ms: 1 } });
  const asked = Promise.withResolvers<void>();
  const url = await listening(
    createServer((request, answer) => {
      answer.writeHead(status, { connection: 'close' }).end(health);
      if (request.url === '/health') request.socket.once('close', () => asked.resolve());
    }),
  );
  const warnings: string[] = [];
  const waybill = await connect(url, { logger: { ...firstWarning().logger, warn: (_, text) => warnings.push(text) } });
  await asked.promise;
  // The answer of a later call comes behind that of the first.
  await waybill.health();
  await waybill.close();
  expect(warnings).toEqual([]);
});

test('D12: a connection that is closed says no more of its server', async () => {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = createServer((request) => {
    request.on('close', left.resolve);
    asked.resolve();
  });
  const url = await listening(server);
  const warnings: string[] = [];
  const warn = (_: object, message: string) => void warnings.push(message);
  const waybill = await connect(url, { logger: { ...firstWarning().logger, warn } });
  await asked.promise;
  await waybill.close();
  await left.promise;
  expect(warnings).toEqual([]);
});

test.each<[unknown, string]>([
  [undefined, 'The address is undefined.'],
  [null, 'The address is null.'],
  ['', 'The address is empty.'],
  [5, 'The address must be a string, not a value of type number.'],
  ['sqlite:x.db?durabilty=full', "the unknown parameter 'durabilty'. Did you mean 'durability'?"],
  ['postgres://u:hidden@h/d?schem=x', "the unknown parameter 'schem'. Did you mean 'schema'?"],
  ['dynamodb://eu-west-1/jobs?endpont=http://x', "the unknown parameter 'endpont'. Did you mean 'endpoint'?"],
  ['http://localhost:8080?tenant=a', "the unknown parameter 'tenant'. It takes none."],
])('D12: connect(%j) is refused, and says why', async (address, why) => {
  const refusal = connect(address as string).catch((error: unknown) => error);
  expect(await refusal).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  expect(String(await refusal)).not.toContain('hidden');
});

test.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('D12: enqueue by the name of a task is refused, and says what to give, %s', async (_, open) => {
  const waybill = await open();
  const refusal = {
    code: 'invalid_request',
    message: "A task is needed, and this is the text 'mail.send'.",
    hint: expect.stringContaining('jobs.enqueue({ type, args })'),
  };
  await expect(waybill.enqueue('mail.send' as never)).rejects.toMatchObject(refusal);
  await expect(waybill.enqueueMany('mail.send' as never, [1] as never)).rejects.toMatchObject(refusal);
  expect(() => waybill.work(['mail.send'] as never)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  expect(() => waybill.work(task('mail.send', { run: () => 1 }) as never)).toThrow("'tasks' must be a list of tasks");
});

test.each<[unknown, string]>([
  [['SIGTRM'], "'stopOn' has no signal 'SIGTRM'. Did you mean 'SIGTERM'?"],
  [['SIGKILL'], "'stopOn' has no signal 'SIGKILL'."],
  ['SIGTERM', "'stopOn' must be a list of signals"],
])('L1: stopOn: %j is refused, and no worker starts', async (stopOn, why) => {
  const waybill = await embedded();
  const work = () => waybill.work([task('mail.send', { run: () => 1 })], { stopOn: stopOn as never });
  expect(work).toThrow(expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(why) }));
});

test('L2: a connection that was closed starts no worker', async () => {
  const waybill = await embedded();
  await waybill.close();
  expect(() => waybill.work([task('mail.send', { run: () => 1 })])).toThrow('This connection was closed');
});

test('L4: a task in place of a job is refused, and says what to give', async () => {
  const waybill = await embedded();
  const mail = task('mail.send', { run: () => 1 });
  const refused = (field: string) => ({
    code: 'invalid_request',
    message: `'${field}' is the task 'mail.send' and not a job. Give jobOf(task, input).`,
  });
  const given = mail as never;
  const daily = { name: 'daily', expression: '@daily' };
  await expect(waybill.crons.put({ ...daily, job_template: given })).rejects.toMatchObject(refused('job_template'));
  const { create, addNodes } = waybill.workflows;
  await expect(create({ nodes: [{ id: 'a', job: given }] })).rejects.toMatchObject(refused('nodes[0].job'));
  await expect(create({ nodes: [given] })).rejects.toMatchObject(refused('nodes[0]'));
  await expect(create({ type: 'chain', steps: [given] })).rejects.toMatchObject(refused('steps[0]'));
  await expect(addNodes('x', [{ id: 'b', job: given }])).rejects.toMatchObject(refused('nodes[0].job'));
  expect((await create({ type: 'chain', steps: [jobOf(mail)] })).total).toBe(1);
  expect(() => waybill.work([mail, mail])).toThrow("must have different names, and 'mail.send' is there twice");
});
