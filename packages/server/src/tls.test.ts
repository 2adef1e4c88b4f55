import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { remote } from '@waybill/client/http';
import type { Logger } from '@waybill/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ListenOptions } from './serve.ts';
import { certificates } from './testing/certificates.ts';
import { RawClient, rawRequest } from './testing/raw-client.ts';
import { socketServer } from './testing/socket-server.ts';

const CHECK_MS = 20;

async function tlsServer(limits: Omit<ListenOptions, 'port' | 'tls'> = {}) {
  const make = certificates();
  const files = make('first');
  const told: string[] = [];
  const tell = (_: object, message: string) => void told.push(message);
  const logger: Logger = { debug: tell, info: tell, warn: tell, error: tell };
  const server = await socketServer({ ...limits, logger, tls: { ...files, checkEveryMs: CHECK_MS } });
  return { ...server, make, files, told };
}

/** A connection after its handshake. */
async function connected(url: string, options: object = {}): Promise<TLSSocket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false, ...options });
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

const nameOf = async (url: string): Promise<string | undefined> => {
  const socket = await connected(url);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return name as string | undefined;
};

const statusOf = (url: string, ca: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(`${url}/ready`, { ca: readFileSync(ca), agent: false }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });

const asked = (socket: TLSSocket): Promise<string> => {
  const answered = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
  socket.write(rawRequest('GET', '/ready'));
  return answered;
};

test('with a certificate the server speaks HTTPS, and nothing else', async () => {
  const { url, files } = await tlsServer();
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(await statusOf(url, files.cert)).toBe(200);
  const plain = await RawClient.connect(url);
  plain.send(rawRequest('GET', '/ready'));
  await plain.closed;
  expect(plain.statuses).toEqual([]);
});

test('TLS 1.2 is the oldest that it speaks', async () => {
  const { url } = await tlsServer();
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
  await expect(connected(url, old)).rejects.toThrow();
  expect((await connected(url, { maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2');
});

test.each(['AES128-SHA', 'AES128-GCM-SHA256', 'ECDHE-RSA-AES128-SHA'])(
  'a suite without forward secrecy or authenticated encryption is refused: %s',
  async (cipher) => {
    const { url } = await tlsServer();
    await expect(connected(url, { maxVersion: 'TLSv1.2', ciphers: `${cipher}:@SECLEVEL=0` })).rejects.toThrow();
  },
);

test('a changed pair is taken without a restart; connections that are open stay so', async () => {
  const { url, make, files, told } = await tlsServer();
  const before = await connected(url);
  const second = make('second');
  copyFileSync(second.cert, files.cert);
  copyFileSync(second.key, files.key);
  await expect.poll(() => nameOf(url)).toBe('second');
  expect(told).toContain('The TLS certificate was loaded again.');
  expect(await asked(before)).toContain('HTTP/1.1 200');
});

test.each([
  [
    'a certificate without its key',
    (files: { cert: string }, second: { cert: string }) => copyFileSync(second.cert, files.cert),
  ],
  ['a file that is no certificate', (files: { cert: string }) => writeFileSync(files.cert, 'nothing')],
])('%s is told of once, and the old pair stays until a good one comes', async (_, breakIt) => {
  const { url, make, files, told } = await tlsServer();
  breakIt(files, make('second'));
  await expect.poll(() => told.filter((line) => line.includes('was not loaded'))).toHaveLength(1);
  expect(await nameOf(url)).toBe('first');
  const third = make('third');
  copyFileSync(third.key, files.key);
  copyFileSync(third.cert, files.cert);
  await expect.poll(() => nameOf(url)).toBe('third');
  expect(told.join()).not.toContain('PRIVATE KEY');
});

test('a server does not start without a usable pair, and says which files', async () => {
  const make = certificates();
  const [one, two] = [make('one'), make('two')];
  await expect(socketServer({ tls: { cert: one.cert, key: two.key } })).rejects.toMatchObject({
    ...{ code: 'invalid_request', message: expect.stringContaining(two.key) },
  });
  await expect(socketServer({ tls: { cert: '/nowhere.crt', key: two.key } })).rejects.toThrow('/nowhere.crt: ENOENT');
  await expect(socketServer({ tls: { cert: one.cert } as never })).rejects.toThrow("'key' is missing");
});

// fault: the key itself stands where its file is expected, or the files change places
test('no error shows anything of a key', async () => {
  const { cert, key } = certificates()('one');
  const text = readFileSync(key, 'utf8');
  const oneLine = text.replace(/-----[^-]+-----|\n/g, '');
  const broken = `${cert}.broken.pem`;
  writeFileSync(broken, text.replace('-----END', '---END'));
  const pairs = [
    ...[text, oneLine, oneLine.slice(0, 100)].flatMap((secret) => [
      { cert, key: secret },
      { cert: secret, key },
    ]),
    ...[
      { cert: key, key: cert },
      { cert: key, key },
      { cert, key: broken },
      { cert: broken, key },
    ],
  ];
  const words = text.split('\n').filter((line) => line.length > 20 && !line.includes('-----'));
  for (const tls of pairs) {
    const refused = await socketServer({ tls }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'invalid_request' });
    const shown = inspect(refused, { depth: 10 });
    for (const word of [...words.flatMap((line) => [line.slice(0, 16), line.slice(-16)]), 'PRIVATE KEY-----'])
      expect(shown).not.toContain(word);
  }
});

describe('over TLS too', () => {
  const closed = (socket: {
    once(event: 'close', done: () => void): unknown;
    on(event: 'error', on: () => void): unknown;
  }) =>
    new Promise<void>((resolve) => {
      socket.on('error', () => {});
      socket.once('close', resolve);
    });

  // fault: a client that connects and never begins the handshake
  test('a handshake that takes too long is cut', async () => {
    const { url } = await tlsServer({ headersTimeoutMs: 100 });
    const socket = connectPlain(Number(new URL(url).port), '127.0.0.1');
    await closed(socket);
  });

  test('a head that takes too long is cut', async () => {
    // Not by headersTimeoutMs, which bounds the handshake too: on a slow machine that could be cut first.
    const { url } = await tlsServer({ requestTimeoutMs: 100 });
    const socket = await connected(url);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
    });
    socket.write('GET /ready HTTP/1.1\r\n');
    await closed(socket);
    expect(received).toContain('408 Request Timeout');
  });

  test('a head that is too large is refused', async () => {
    const { url } = await tlsServer({ maxHeaderBytes: 1_000 });
    const socket = await connected(url);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
    });
    socket.write(`GET /ready HTTP/1.1\r\nX-Long: ${'x'.repeat(2_000)}\r\n\r\n`);
    await closed(socket);
    expect(received).toContain('431');
  });

  test('a body that is too large is refused', async () => {
    const { url } = await tlsServer();
    const socket = await connected(url);
    const answered = new Promise((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
    socket.write(
      'POST /ojs/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n',
    );
    expect(await answered).toContain('413');
  });

  test('beyond the limit of connections the longest idle one goes, in the midst of its handshake or after it', async () => {
    const { url } = await tlsServer({ maxConnections: 2 });
    const silent = connectPlain(Number(new URL(url).port), '127.0.0.1');
    const silentClosed = closed(silent);
    await new Promise((resolve) => silent.once('connect', resolve));
    // An answer shows that the server knows of the connection too: a client is done with the handshake before it.
    const first = await connected(url);
    const firstClosed = closed(first);
    expect(await asked(first)).toContain('HTTP/1.1 200');
    const second = await connected(url);
    await silentClosed;
    expect(await asked(second)).toContain('HTTP/1.1 200');
    const third = await connected(url);
    await firstClosed;
    for (const socket of [second, third]) expect(await asked(socket)).toContain('HTTP/1.1 200');
  });

  test('closing ends idle connections and those in a handshake', async () => {
    const { url, close } = await tlsServer();
    const idle = await connected(url);
    const silent = connectPlain(Number(new URL(url).port), '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    const ended = [closed(idle), closed(silent)];
    await close();
    await Promise.all(ended);
  });
});

test('a client that does not trust the certificate is told so, and what to do', async () => {
  const { url } = await tlsServer();
  const waybill = remote(url, { sleep: async () => {} });
  onTestFinished(() => waybill.close());
  await expect(waybill.queues.list()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/certificate .* is not trusted \(\w+\)/),
    hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});
