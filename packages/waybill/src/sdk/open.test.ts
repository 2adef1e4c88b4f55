import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { startHost } from '../cli/host.ts';
import { folder, Terminal } from '../cli/testing/terminal.ts';
import { connect } from './connect.ts';
import type { ConnectOptions } from './connect-options.ts';

const refusalOf = (attempt: Promise<{ close(): Promise<void> }>): Promise<{ code?: string; message: string }> =>
  attempt.then(
    async (waybill) => {
      await waybill.close();
      throw new Error('It was not refused.');
    },
    (error: { code?: string; message: string }) => error,
  );

test.each<[unknown, string]>([
  [{ transport: 'sqss://r/p' }, "Unknown transport 'sqss://r/p'"],
  [{ transport: 'sqs://r/p?endpoint=x' }, "'endpoint'"],
  [{ blobs: 'nonsense' }, 'Unknown blobs'],
  [{ blobs: 'file:x?threshold=3' }, 'at least 16'],
  [{ engine: { leaseMs: -1 } }, "'leaseMs' must be a number above 0, not -1"],
  [{ engine: { leasMs: 5 } }, "no option 'leasMs'. Did you mean 'leaseMs'?"],
  [{ engine: { sweepEveryMs: 'often' } }, "'sweepEveryMs' must be a number above 0, not often"],
  [{ engine: { leaseMs: undefined } }, "'leaseMs' must be a number above 0, not undefined"],
  [{ engine: { maintenance: 'no' } }, "'maintenance' must be true or false"],
  [{ engine: { retention: { deadMs: 0 } } }, "'retention.deadMs' must be a number above 0"],
  [{ engine: { retention: { dedMs: 1 } } }, "Did you mean 'deadMs'?"],
  [{ engine: null }, "The option 'engine' must be an object, not null."],
  [{ loger: console }, "Did you mean 'logger'?"],
  [{ tenant: '*' }, "'tenant' must name one tenant"],
  [{ tenant: 'a b' }, "'tenant' must have at most 128 printable ASCII characters"],
  [{ tenant: 5 }, "'tenant' must have at most 128 printable ASCII characters"],
  [null, 'The options of connect() must be an object, not null.'],
  ['fast', 'The options of connect() must be an object, not string.'],
])('D3: connect with %j is refused before a file is made', async (options, why) => {
  const file = path.join(folder(), 'jobs.db');
  const error = await refusalOf(connect(`sqlite:${file}`, options as ConnectOptions));
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  expect(existsSync(file)).toBe(false);
});

test.each([{ transport: 'poll' }, { engine: { leaseMs: 5 } }])(
  'D3: %j with the address of a server is refused, because it would have no effect',
  async (options) => {
    const [name] = Object.keys(options);
    const error = await refusalOf(connect('http://127.0.0.1:1', options));
    expect(error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`'${name}' has no effect`),
    });
  },
);

test('D3: the command ignores a transport of the environment where it speaks to a server', async () => {
  const terminal = new Terminal('http://127.0.0.1:1');
  terminal.env = { WAYBILL_TRANSPORT: 'sqs://eu-west-1/jobs', WAYBILL_BLOBS: 'file:./blobs' };
  expect((await terminal.run('jobs', 'list')).err).toContain('could not be reached');
});

test.each<[object, string]>([
  [{ transport: 'sqss://r/p' }, 'Unknown transport'],
  [{ blobs: 'nonsense' }, 'Unknown blobs'],
  [{ allowedHosts: ['http://jobs.example'] }, "Invalid host name 'http://jobs.example'"],
  [{ host: '0.0.0.0', testDirectives: true }, 'Refusing test directives beyond loopback'],
  [{ tls: { cert: '/nowhere.crt', key: '/nowhere.key' } }, 'Cannot read the TLS file /nowhere.crt'],
])('D3: a server with %j is refused before a file is made', async (options, why) => {
  const home = folder();
  const serve = { host: '127.0.0.1', port: 0, portGiven: true, noAuth: false, requireLease: false };
  const parts = { allowedHosts: [], transport: 'poll', blobs: undefined, store: `sqlite:${home}/jobs.db` };
  const started = startHost({ ...serve, ...parts, ...options }, silentLogger);
  onTestFinished(async () => void (await started.then((host) => host.drain()).catch(() => {})));
  await expect(started).rejects.toThrow(why);
  expect(readdirSync(home)).toEqual([]);
});
