import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { engine, type KeyRequest, silentLogger } from '@waybill/core';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from './connect/open-store.ts';
import { parseStoreAddress } from './connect/parse-address.ts';
import { ServerProcess } from './testing/server-process.ts';

const BIN = fileURLToPath(new URL('../bin/waybill.js', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'waybill-auth-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = (name: string) => `sqlite:${path.join(folder, name)}`;

async function serve(name: string, flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const server = await ServerProcess.start(['serve', '--store', store(name), '--port', '0', ...flags], env);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  return server;
}

/** A key in the store, as the command makes it. */
async function newKey(name: string, request: Partial<KeyRequest> = {}): Promise<string> {
  const opened = await openStore(parseStoreAddress(store(name)), { create: true, logger: silentLogger });
  const waybill = engine({ store: opened, logger: silentLogger, maintenance: false });
  const { secret } = await waybill.keys!.create({ name: 'admin', scopes: ['admin'], ...request });
  await waybill.close();
  return secret;
}

/** Where the server can be reached, also when it listens on every address. */
const reached = ({ url }: ServerProcess) => url.replace('0.0.0.0', '127.0.0.1');

const statusOf = async (server: ServerProcess, headers: Record<string, string> = {}) =>
  (await fetch(`${reached(server)}/ojs/v1/jobs`, { headers })).status;

test('beyond loopback keys are asked for, and the first one is told how to make', async () => {
  const server = await serve('beyond.db', ['--host', '0.0.0.0']);
  await server.printed(
    /There is no key yet\. Create one: waybill keys create admin --scopes admin --tenant '\*' --store 'sqlite:/,
  );
  await server.printed(/Keys travel unencrypted/);
  expect(await statusOf(server)).toBe(401);
  expect((await fetch(`${reached(server)}/health`)).status).toBe(200);
  const secret = await newKey('beyond.db');
  expect(await statusOf(server, { Authorization: `Bearer ${secret}` })).toBe(200);
  expect(server.output).not.toContain(secret);
  await server.end('SIGTERM');

  const again = await serve('beyond.db', ['--host', '0.0.0.0']);
  expect(again.output).not.toContain('There is no key yet');
});

test('a store in memory gets no key from another process, and the server says what to do', async () => {
  const server = await ServerProcess.start(['serve', '--store', 'sqlite::memory:', '--port', '0', '--auth'], {});
  onTestFinished(async () => void (await server.end('SIGKILL')));
  expect(server.output).toMatch(/There is no key, and none can be added: .* Start it with --keys FILE/);
});

test('--no-auth beyond loopback lets everybody in, and warns', async () => {
  const server = await serve('open.db', ['--host', '0.0.0.0', '--no-auth']);
  await server.printed(/Anyone who reaches this server can use it/);
  expect(await statusOf(server)).toBe(200);
});

test('on loopback keys are asked for with --auth, or with WAYBILL_AUTH', async () => {
  const secret = await newKey('loopback.db');
  const headers = { 'X-API-Key': secret };
  const open = await serve('loopback.db', []);
  expect(await statusOf(open)).toBe(200);
  for (const server of [
    await serve('loopback.db', ['--auth']),
    await serve('loopback.db', [], { WAYBILL_AUTH: 'true' }),
  ]) {
    expect([await statusOf(server), await statusOf(server, headers)]).toEqual([401, 200]);
    expect(server.output).not.toContain('unencrypted');
  }
});

test('--requests-per-minute, --cors-origin and --session-hours reach the server', async () => {
  const secret = await newKey('limits.db');
  const flags = ['--requests-per-minute', '7', '--cors-origin', 'https://app.example', '--session-hours', '2'];
  const server = await serve('limits.db', ['--auth', ...flags]);
  const headers = { 'X-API-Key': secret, Origin: 'https://app.example' };
  const answered = await fetch(`${server.url}/ojs/v1/jobs`, { headers });
  expect(answered.headers.get('RateLimit-Limit')).toBe('7');
  expect(answered.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example');
  const begun = await fetch(`${server.url}/auth/session`, { method: 'POST', headers });
  expect(begun.headers.get('Set-Cookie')).toContain('Max-Age=7200;');
});

test('--tls-cert and --tls-key make it speak HTTPS', async () => {
  const [cert, key] = [path.join(folder, 'a.crt'), path.join(folder, 'a.key')];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const named = ['-subj', '/CN=a', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...made, ...named], { stdio: 'ignore' });
  const server = await serve('tls.db', ['--tls-cert', cert, '--tls-key', key]);
  expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const status = await new Promise((resolve, reject) => {
    const asked = request(`${server.url}/ready`, { ca: readFileSync(cert), agent: false }, (response) =>
      resolve(response.resume().statusCode),
    );
    asked.on('error', reject).end();
  });
  expect(status).toBe(200);
});

test('--trust-proxy believes a proxy, and only the named ones', async () => {
  const secret = await newKey('proxy.db');
  const headers = { 'X-API-Key': secret, 'X-Forwarded-Proto': 'https' };
  const cookieOf = async (...flags: string[]) => {
    const server = await serve('proxy.db', ['--auth', ...flags]);
    return (await fetch(`${server.url}/auth/session`, { method: 'POST', headers })).headers.get('Set-Cookie');
  };
  expect(await cookieOf()).toMatch(/^waybill_session=/);
  expect(await cookieOf('--trust-proxy')).toMatch(/^__Host-waybill_session=/);
  expect(await cookieOf('--trust-proxy', '--proxy-address', '10.0.0.1')).toMatch(/^waybill_session=/);
});

const bad = path.join(folder, 'bad.json');
writeFileSync(bad, 'nothing');
const TOKENS = ['--jwt-issuer', 'https://a.example', '--jwt-audience', 'b'];

test.each([
  [['--auth', '--no-auth'], 'exclude each other'],
  [['--no-auth', '--keys', bad], 'leave out --keys'],
  [['--keys', '/nowhere'], 'Cannot read the file of --keys, /nowhere: ENOENT'],
  [['--keys', 'PLANTEDm-0123456789'], 'Cannot read the file of --keys, ***: ENOENT'],
  [['--auth', '--token-secret', 'PLANTEDl-0123456789'], 'Could not read the file of --token-secret: ENOENT'],
  [TOKENS, '--jwt-jwks'],
  [[...TOKENS, '--jwt-jwks', 'http://a.example/jwks'], 'https://'],
  [[...TOKENS, '--jwt-jwks', '/nowhere'], '/nowhere holds no keys of an issuer: ENOENT'],
  [[...TOKENS, '--jwt-jwks', bad], 'no JWKS'],
  [['--tls-cert', bad], 'both --tls-cert and --tls-key'],
  [['--tls-cert', bad, '--tls-key', bad], 'are no usable pair'],
  [['--cors-origin', 'app.example'], "Invalid origin 'app.example'"],
  [['--cors-origin', '*'], 'nobody has to show a key'],
  [['--requests-per-minute', '0'], 'from 1 to 1000000'],
  [['--requests-per-minute', '5'], 'need --auth'],
  [['--session-hours', '721'], 'from 1 to 720'],
  [['--proxy-address', '10.0.0.1'], 'needs --trust-proxy'],
  [['--trust-proxy', '--proxy-address', 'x'], "Invalid address of a proxy 'x'"],
])('%j is refused before a store is made', (flags, text) => {
  const args = ['serve', '--store', store('refused.db'), '--port', '0', ...flags];
  const { status, stderr } = spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', timeout: 60_000 });
  expect([status, stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(text)]);
  expect(stderr).not.toContain('PLANTED');
  expect(existsSync(path.join(folder, 'refused.db'))).toBe(false);
});
