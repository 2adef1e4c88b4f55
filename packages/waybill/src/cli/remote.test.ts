import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { remote } from '@waybill/client/http';
import { engine } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../connect/open-store.ts';
import { Terminal } from './testing/terminal.ts';

async function server(): Promise<Terminal> {
  const waybill = engine({ store: await openStore('sqlite::memory:') });
  const listening = await serve(createApp({ waybill, version: '0.0.0' }), { port: 0 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  const terminal = new Terminal(listening.url);
  terminal.now = Date.now();
  return terminal;
}

test('the same commands work against a server', async () => {
  const terminal = await server();
  expect(await terminal.text('enqueue', 'a.b', '[1]', '--queue', 'far')).toMatch(
    /^\nID-1\S+ available in queue far\n$/,
  );
  expect(await terminal.json('jobs', 'show', terminal.id(1))).toMatchObject({
    job: { type: 'a.b', args: [[1]] },
    events: [{ type: 'job.enqueued' }],
  });
  expect(await terminal.json('queues')).toMatchObject({ queues: [{ name: 'far', available: 1 }] });
  expect(await terminal.text('jobs', 'cancel', terminal.id(1))).toMatch(/ cancelled\n$/);
  expect((await terminal.run('jobs', 'cancel', terminal.id(1))).code).toBe(8);
  expect((await terminal.run('queues', 'show', 'nothing')).code).toBe(7);
  expect(await terminal.json('dead', 'replay', '--all', '--yes')).toEqual({ retried: 0, has_more: false });
  await terminal.run('cron', 'add', 'daily', '@daily', '--type', 'a.b');
  expect(await terminal.json('cron')).toMatchObject({ crons: [{ name: 'daily' }] });
  expect(await terminal.json('workflows')).toMatchObject({ workflows: [] });
});

test('tail follows a server', async () => {
  const terminal = await server();
  await terminal.run('enqueue', 'a.b');
  terminal.onOutput = () => terminal.interruption.abort();
  expect(await terminal.text('tail', '--since', 'start')).toMatch(/a\.b ID-1\S+ enqueued\n$/);
});

test('doctor asks a server, and compares clocks', async () => {
  const terminal = await server();
  expect(await terminal.json('doctor')).toMatchObject({
    status: 'ok',
    checks: [
      { name: 'node' },
      { name: 'store' },
      { name: 'maintenance' },
      { name: 'clock', message: 'as the server has it' },
    ],
  });
  terminal.now += 3_600_000;
  expect(await terminal.json('doctor')).toMatchObject({ status: 'warn' });
});

test('D10: doctor asks a server for jobs whose type no worker knows', async () => {
  const terminal = await server();
  await terminal.run('enqueue', 'mail.sned');
  const far = remote(terminal.store);
  onTestFinished(() => far.close());
  const [lease] = await far.jobs.claim({ queues: ['default'] });
  const error = { code: 'unknown_type', message: "Worker w has no task 'mail.sned'." };
  await far.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome: { kind: 'snoozed', error } });
  const { checks } = (await terminal.json('doctor')) as { checks: { name: string; status: string; message: string }[] };
  expect(checks.at(-1)).toMatchObject({
    ...{ name: 'tasks', status: 'warn' },
    message: expect.stringMatching(
      /^1 job of 1 type handed back, newest \S+ mail\.sned in queue default: Worker w has/,
    ),
  });
});

test('a server that is not there: exit 14, and which one was meant', async () => {
  const terminal = new Terminal('http://127.0.0.1:1');
  const { code, err } = await terminal.run('queues', 'pause', 'a');
  expect({ code, err }).toMatchInlineSnapshot(`
    {
      "code": 14,
      "err": "waybill: The server http://127.0.0.1:1 could not be reached, or its answer broke off.
      Is a server running at http://127.0.0.1:1?
    ",
    }
  `);
});

test.each(['http', 'grpc'])('a command says why a server cannot be reached, by %s', async (protocol) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  taken.close();
  await once(taken, 'close');
  const { code, err } = await new Terminal(`${protocol}://127.0.0.1:${port}`).run(
    'jobs',
    'cancel',
    '019539a4-b68c-7def-8000-1a2b3c4d5e6f',
  );
  expect([code, err]).toEqual([
    14,
    expect.stringMatching(/Nothing listens at this address and port.*\(ECONNREFUSED\)/s),
  ]);
  const unknown = await new Terminal(`${protocol}://nowhere.invalid:80`).run(
    'jobs',
    'cancel',
    '019539a4-b68c-7def-8000-1a2b3c4d5e6f',
  );
  expect([unknown.code, unknown.err]).toEqual([14, expect.stringMatching(/\((ENOTFOUND|EAI_AGAIN)\)/)]);
});

test('M4: a server that swallows everything is told of while the command waits', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => {}).resume()));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const url = `http://127.0.0.1:${(silent.address() as { port: number }).port}`;
  const terminal = new Terminal(url);
  // Once the line has come, the server goes, so that the test need not wait for the deadline.
  terminal.onError = () => {
    silent.close();
    for (const socket of sockets) socket.destroy();
  };
  const { code, err } = await terminal.run('queues');
  expect(code).toBe(14);
  expect(err.split('\n').slice(0, 2)).toEqual([
    `waybill: waiting for ${url}`,
    `waybill: The server ${url} could not be reached, or its answer broke off.`,
  ]);
});
