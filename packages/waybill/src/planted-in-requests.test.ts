import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Planted } from './testing/planted.ts';
import { runCommand } from './testing/run-command.ts';
import { ServerProcess } from './testing/server-process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-planted-keys-'));
const [keysFile, jwksFile] = [path.join(folder, 'keys.json'), path.join(folder, 'jwks.json')];
const store = `sqlite:${path.join(folder, 'jobs.db')}`;

const planted = new Planted();
const { apiKey, webhook: hookSecret } = planted;
/** Secrets that the server itself has made, and those of the receiver's address. */
const made: Record<string, string> = { pathToken: planted.signature, queryToken: planted.session };
const foundIn = (text: string, but: readonly string[] = []): string[] =>
  [...planted.foundIn(text), ...Object.keys(made).filter((name) => text.includes(made[name]!))].filter(
    (name) => !but.includes(name),
  );

const OWN_SECRET = `${planted.password}-of-a-scraper`;
const pair = generateKeyPairSync('ed25519');
const JWKS = { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'EdDSA', use: 'sig' }] };

/** A token that the server takes. */
function newToken(claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const body = { iss: 'https://issuer.example', aud: 'waybill', exp, ...claims };
  const signed = `${encode({ alg: 'EdDSA', kid: 'one' })}.${encode(body)}`;
  return `${signed}.${sign(null, Buffer.from(signed), pair.privateKey).toString('base64url')}`;
}

/** Refuses everything, and sends back all that it got. */
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  response.writeHead(500, { 'X-Echo': String(request.url) });
  response.end(JSON.stringify({ error: { code: body, message: JSON.stringify(request.headers), url: request.url } }));
});
let server: ServerProcess;
let hookUrl: string;

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  hookUrl = `http://127.0.0.1:${port}/hooks/${made['pathToken']}?token=${made['queryToken']}`;
  const sha256 = createHash('sha256').update(apiKey).digest('hex');
  const keys = [
    { id: planted.keyId, name: 'ops', sha256, scopes: ['admin'], tenant: '*' },
    { name: 'scraper', secret: OWN_SECRET, scopes: ['metrics'], tenant: '*' },
  ];
  writeFileSync(keysFile, JSON.stringify(keys), { mode: 0o600 });
  writeFileSync(jwksFile, JSON.stringify(JWKS));
  const tokens = ['--jwt-issuer', 'https://issuer.example', '--jwt-audience', 'waybill', '--jwt-jwks', jwksFile];
  const flags = ['--port', '0', '--store', store, '--keys', keysFile, '--metrics', '--allow-private-webhooks'];
  const env = { WAYBILL_LOG: 'debug', NO_COLOR: '1' };
  server = await ServerProcess.start(['serve', ...flags, ...tokens, '--log-format', 'json'], env);
});

afterAll(async () => {
  await server?.end('SIGKILL');
  receiver.close();
  receiver.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

/** The real command with the key, and all that it says. */
const command = async (args: readonly string[], env: NodeJS.ProcessEnv = { WAYBILL_KEY: apiKey }, at = server.url) =>
  (await runCommand([...args, '--store', at], folder, env)).text;

/** Each look is a line of the server's log, so there are few of them. */
const PATIENT = { interval: 200, timeout: 100_000 };

const AS_OPS = { Authorization: `Bearer ${apiKey}` };

async function ask(where: string, headers: Record<string, string>, method = 'GET', body?: unknown) {
  const response = await fetch(server.url + where, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, cookie: response.headers.get('Set-Cookie'), all: [...response.headers] };
}

/** Whatever anybody may read afterwards. */
const READ = [
  ...['/health', '/ready', '/ojs/v1/health', '/ojs/v1/jobs', '/ojs/v1/queues', '/ojs/v1/events?limit=1000'],
  ...['/waybill/v1/audit?limit=1000', '/waybill/v1/keys', '/waybill/v1/tenants', '/metrics'],
];
async function expectNoneToRead(): Promise<void> {
  for (const tenant of ['', 'acme']) {
    for (const where of READ) {
      const { status, text } = await ask(where, { ...AS_OPS, 'X-OJS-Tenant': tenant });
      expect([where, status, foundIn(text)]).toEqual([where, 200, []]);
    }
  }
  expect(foundIn(server.output)).toEqual([]);
}

test('the grep finds what is planted here', () => {
  expect(foundIn(`${hookUrl} ${apiKey} ${hookSecret} ${OWN_SECRET}`).sort()).toEqual(
    ['password', 'session', 'signature', 'apiKey', 'webhook', 'pathToken', 'queryToken'].sort(),
  );
});

describe('a key of the command, by WAYBILL_KEY or --key', () => {
  test.concurrent.for([
    ['jobs', 'list'],
    ['enqueue', 'a.b', '1'],
    ['doctor'],
    ['queues', 'pause', 'mail'],
    ['keys', 'list', '--json'],
    ['audit', '--json'],
    ['jobs', 'list', '--kye', apiKey],
  ])('%j', async (args, { expect: expectHere }) => {
    const said = [await command(args), await command([...args, '--key', apiKey], {})];
    const wrong = `${apiKey.slice(0, -43)}${planted.password.slice(0, 25).padEnd(43, 'x')}`;
    said.push(await command(args, { WAYBILL_KEY: wrong }));
    expectHere(said.map((text) => [text.length > 5, foundIn(text)])).toEqual(said.map(() => [true, []]));
    expectHere(said.join('\n')).not.toContain(wrong.slice(-43));
  });

  test('reaches the server, and nothing that can be read later', async () => {
    expect(await command(['queues', 'list'])).toContain('mail');
    expect((await ask('/waybill/v1/audit', AS_OPS)).text).toContain(planted.keyId);
    await expectNoneToRead();
  });
});

test('a keys file that becomes unusable is told of without what is in it', async () => {
  const good = readFileSync(keysFile, 'utf8');
  const told = () => server.output.split('keys.json').length;
  const bad = [{ name: 'bad', secret: OWN_SECRET, scopes: [apiKey], [hookSecret]: planted.jwt }];
  for (const text of [JSON.stringify(bad), `{ "secret": "${OWN_SECRET}", ${apiKey}`]) {
    const before = told();
    writeFileSync(keysFile, text);
    // It is looked at with a request, once in a second.
    while (told() === before) await ask('/ojs/v1/queues', AS_OPS);
    const refused = await command(['serve', '--port', '0', '--keys', keysFile], {}, 'sqlite::memory:');
    expect([refused.includes('keys.json'), foundIn(refused)]).toEqual([true, []]);
  }
  writeFileSync(keysFile, good);
  expect(foundIn(server.output)).toEqual([]);
});

test('secrets of webhooks: made, shown, failing, tested, sent again, rotated', async () => {
  const given = { url: hookUrl, events: ['*'], secret: hookSecret };
  const { status, text } = await ask('/waybill/v1/webhooks', AS_OPS, 'POST', given);
  expect([status, foundIn(text)]).toEqual([201, ['session', 'signature', 'webhook', 'pathToken', 'queryToken']]);
  const { id } = JSON.parse(text).webhook as { id: string };
  const rotated = await command(['webhooks', 'rotate-secret', id]);
  made['rotated'] = /whsec_(\S+)/.exec(rotated)![1]!;
  await command(['enqueue', 'a.b', '1']);
  await server.printed(/A delivery failed/);
  // To people the address is shown without what may be a token.
  for (const args of [['list'], ['show', id], ['test', id], ['redeliver', id, '--since', '1h'], ['pause', id]]) {
    const said = await command(['webhooks', ...args]);
    expect([args, said.length > 5, foundIn(said)]).toEqual([args, true, []]);
  }
  const failed = server.output.split('A delivery failed').length - 1;
  await command(['webhooks', 'resume', id]);
  await expect.poll(() => server.output.split('A delivery failed').length - 1, PATIENT).toBeGreaterThan(failed);
  const inAddress = ['session', 'signature', 'pathToken', 'queryToken'];
  for (const where of ['/waybill/v1/webhooks', `/waybill/v1/webhooks/${id}`])
    expect(foundIn((await ask(where, AS_OPS)).text, inAddress)).toEqual([]);
  for (const bad of [
    { ...given, secret: `${hookSecret}!` },
    { ...given, url: `ftp://ada:${planted.password}@h/` },
  ]) {
    const refused = await ask(`/waybill/v1/webhooks/${id}`, AS_OPS, 'PUT', bad);
    expect([refused.status, foundIn(refused.text)]).toEqual([400, []]);
  }
  const { text: metrics } = await ask('/metrics', AS_OPS);
  expect(metrics).toMatch(/^waybill_sink_deliveries_total\{(?=.*sink="webhook")(?=.*outcome="failed")/m);
  // It is started anew after a change, and until it fails again there is nothing to say of it.
  const healthNow = async () => (await ask('/ojs/v1/health', AS_OPS)).text;
  await expect.poll(healthNow, PATIENT).toContain(id);
  expect(foundIn(await healthNow())).toEqual([]);
  const doctor = await command(['doctor']);
  expect([doctor.length > 20, foundIn(doctor)]).toEqual([true, []]);
  await expectNoneToRead();
});

test('cookies and CSRF tokens of sessions, and tokens of an issuer', async () => {
  const token = newToken({ sub: 'ada', tenant: 'acme', scope: 'admin' });
  Object.assign(made, { token: token.split('.')[2]!, tokenBody: token.split('.')[1]! });
  for (const key of [apiKey, token]) {
    const begun = await ask('/auth/session', {}, 'POST', { key });
    expect([begun.status, foundIn(begun.text + JSON.stringify(begun.all))]).toEqual([201, []]);
    const cookie = begun.cookie!.split(';')[0]!;
    const csrf = (JSON.parse(begun.text) as { csrf_token: string }).csrf_token;
    Object.assign(made, { [`cookie ${cookie.length}`]: cookie.split('=')[1]!, [`csrf ${csrf.length}`]: csrf });
    for (const headers of [{ Cookie: cookie }, { Cookie: cookie, 'X-CSRF-Token': csrf.slice(1) }] as const) {
      const refused = await ask('/ojs/v1/queues/mail/pause', headers, 'POST');
      expect([refused.status, foundIn(refused.text)]).toEqual([403, []]);
    }
    const paused = await ask('/ojs/v1/queues/mail/pause', { Cookie: cookie, 'X-CSRF-Token': csrf }, 'POST');
    expect([paused.status, foundIn(paused.text)]).toEqual([200, []]);
    for (const path of [`/ojs/v1/jobs/${cookie}`, `/ojs/v1/jobs?state=${csrf}`, `/nothing/${token}`]) {
      // What the address of a request named may come back in its answer, and goes nowhere else.
      const { status } = await ask(path, { Cookie: cookie });
      expect(status).toBeGreaterThanOrEqual(400);
    }
    await expectNoneToRead();
    await ask('/auth/session', { Cookie: cookie, 'X-CSRF-Token': csrf }, 'DELETE');
    expect((await ask('/ojs/v1/jobs', { Cookie: cookie })).status).toBe(401);
  }
  expect((await ask('/ojs/v1/jobs', { Authorization: `Bearer ${token}` })).status).toBe(200);
  const forged = await ask('/ojs/v1/jobs', { Authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` });
  expect([forged.status, foundIn(forged.text)]).toEqual([401, []]);
  await expectNoneToRead();
});

test('neither keys, tokens nor cookies are in the files of the store', async () => {
  await server.end('SIGTERM');
  expect(foundIn(server.output)).toEqual([]);
  const files = readdirSync(folder).filter((name) => name.startsWith('jobs.db'));
  const bytes = files.map((name) => readFileSync(path.join(folder, name), 'latin1')).join('\n');
  expect(bytes).toContain(planted.keyId);
  // Receivers check signatures by the same secret, so that of a webhook is kept as it is, with its address.
  const kept = ['webhook', 'rotated', 'session', 'signature', 'pathToken', 'queryToken'];
  expect(foundIn(bytes, kept)).toEqual([]);
});
