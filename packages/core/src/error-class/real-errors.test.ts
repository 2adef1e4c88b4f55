import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { loadOptional } from '../optional-package.ts';
import { classifyError } from './classify-error.ts';
import type { DecidedBy, ErrorClass } from './error-class.ts';

/** Answers with the status that the path names, with half an answer at /cut, and never at /never. */
const server = createServer((request, response) => {
  if (request.url === '/never') return;
  if (request.url === '/cut') {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setImmediate(() => response.destroy());
  } else if (request.url === '/page') response.end('<html>');
  else response.writeHead(Number(request.url!.slice(1)), { 'retry-after': '7' }).end();
});
let url = '';
let closedPort = 0;

beforeAll(async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  closedPort = (other.address() as AddressInfo).port;
  await new Promise<void>((resolve) => other.close(() => resolve()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const anyName = 'waybill-no-such-package';
const nothing = undefined as unknown as { name: () => void };

const database = (sql: string): void => {
  const opened = new DatabaseSync(':memory:');
  try {
    opened.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)');
    opened.exec(sql);
  } finally {
    opened.close();
  }
};

const emitted = (emitter: { once(event: 'error', listener: (error: Error) => void): unknown }): Promise<never> =>
  new Promise((_, reject) => emitter.once('error', reject));

const thrown = async (response: Promise<Response>): Promise<never> => {
  throw await response;
};

const CASES: readonly (readonly [title: string, run: () => unknown, ErrorClass, DecidedBy])[] = [
  ['a socket to a closed port', () => emitted(connect(closedPort, '127.0.0.1')), 'network', 'code'],
  ['fetch from a closed port', () => fetch(`http://127.0.0.1:${closedPort}/`), 'network', 'code'],
  ['fetch of an answer that ends early', async () => (await fetch(`${url}/cut`)).text(), 'network', 'code'],
  ['fetch with an unknown scheme', () => fetch('waybill://x'), 'network', 'text'],
  ['fetch of what is no address', () => fetch('no address'), 'validation', 'code'],
  ['fetch that was aborted', () => fetch(url, { signal: AbortSignal.abort() }), 'timeout', 'type'],
  ['fetch that took too long', () => fetch(`${url}/never`, { signal: AbortSignal.timeout(1) }), 'timeout', 'type'],
  ['an answer 429 that was thrown', () => thrown(fetch(`${url}/429`)), 'rate_limit', 'status'],
  ['an answer 503 that was thrown', () => thrown(fetch(`${url}/503`)), 'server_error', 'status'],
  ['an answer 403 that was thrown', () => thrown(fetch(`${url}/403`)), 'auth', 'status'],
  ['JSON of an answer that is a page', async () => (await fetch(`${url}/page`)).json(), 'parse', 'type'],
  ['JSON.parse', () => JSON.parse('{"a":'), 'parse', 'type'],
  ['a program with a syntax error', () => new Function('return (')(), 'programming', 'type'],
  ['a missing package', () => import(anyName), 'not_found', 'code'],
  [
    'an optional package that is missing',
    () => loadOptional({ name: anyName, needs: 'The test needs' }, () => import(anyName)),
    'not_found',
    'code',
  ],
  ['a missing file', () => readFileSync('/no/such/file'), 'not_found', 'code'],
  ['a missing program', () => execFileSync('waybill-no-such-program'), 'not_found', 'code'],
  ['a missing program, started', () => emitted(spawn('waybill-no-such-program')), 'not_found', 'code'],
  ['a program that failed', () => execFileSync('node', ['-e', 'process.exit(1)']), 'unknown', 'none'],
  ['a call of undefined', () => nothing.name(), 'programming', 'type'],
  ['an endless recursion', () => endless(), 'programming', 'type'],
  ['an array of negative length', () => new Array(-1), 'programming', 'type'],
  ['a malformed escape', () => decodeURIComponent('%'), 'programming', 'type'],
  ['a name that is not there', () => new Function('return notThere')(), 'programming', 'type'],
  ['an argument that Node.js refuses', () => readFileSync({} as never), 'programming', 'type'],
  ['a schema of zod', () => z.object({ to: z.string() }).parse({ to: 400 }), 'validation', 'type'],
  ['a broken constraint of SQLite', () => database('INSERT INTO t VALUES (1), (1)'), 'validation', 'code'],
  ['a syntax error of SQLite', () => database('SELEC 1'), 'unknown', 'none'],
  ['signal.throwIfAborted', () => AbortSignal.abort().throwIfAborted(), 'timeout', 'type'],
];

function endless(): number {
  return endless() + 1;
}

describe('an error that really happened:', () => {
  test.for(CASES)('%s', async ([, run, expected, by]) => {
    const caught = await new Promise((resolve) => resolve(run())).then(
      () => expect.unreachable('nothing was thrown'),
      (reason: unknown) => reason,
    );
    expect(classifyError(caught)).toMatchObject({ class: expected, by });
  });

  test('an answer tells how long to wait', async () => {
    expect(classifyError(await fetch(`${url}/429`))).toEqual({
      class: 'rate_limit',
      retryable: true,
      retryAfterMs: 7_000,
      by: 'status',
    });
  });

  test('one of several that failed at once decides by what another attempt can do', async () => {
    const port = `http://127.0.0.1:${closedPort}/`;
    const several = (...all: Promise<unknown>[]): Promise<unknown> => Promise.any(all).catch((error: unknown) => error);
    const programming = (): Promise<never> => Promise.reject(new TypeError('x is not a function'));
    expect(classifyError(await several(programming(), fetch(port)))).toMatchObject({ class: 'network' });
    expect(classifyError(await several(programming(), programming()))).toMatchObject({ class: 'programming' });
    expect(classifyError(await several(programming(), Promise.reject(new Error('odd'))))).toMatchObject({
      class: 'unknown',
    });
  });
});
