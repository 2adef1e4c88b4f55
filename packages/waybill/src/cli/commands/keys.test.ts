import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { hashOfSecret, type KeyRequest, type Keys, silentLogger } from '@waybill/core';
import { givenKeys } from '@waybill/server';
import { expect, onTestFinished, test } from 'vitest';
import { keyedServer } from '../../testing/keyed-server.ts';
import { startHost } from '../host.ts';
import { wholeKeyId } from '../open-keys.ts';
import { folder, Terminal } from '../testing/terminal.ts';

const SECRET = /^wb_([a-z2-9]{12})_[\w-]{43}$/;
const FORGED = 'wb_abcdefghjkmn_S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3c';

/** What `| tail -1` would give. */
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)!;

async function openServer(): Promise<Terminal> {
  const serve = { host: '127.0.0.1', port: 0, portGiven: true, noAuth: false, requireLease: false, allowedHosts: [] };
  const parts = { store: 'sqlite::memory:', transport: 'poll', blobs: undefined };
  const host = await startHost({ ...serve, ...parts }, silentLogger);
  onTestFinished(() => host.drain());
  return new Terminal(host.url);
}

/** A terminal whose key may do everything in every tenant. */
async function keyedTerminal(): Promise<Terminal> {
  const { url, secretFor } = await keyedServer();
  const terminal = new Terminal(url);
  terminal.env = { WAYBILL_KEY: await secretFor({}, '*') };
  return terminal;
}

const PLACES: [string, () => Promise<Terminal>][] = [
  ['a store', async () => new Terminal()],
  ['a server', openServer],
  ['a server that asks for a key', keyedTerminal],
];

test('a narrowed key shows that it is narrowed in 80 columns, with its limit of requests', async () => {
  const terminal = new Terminal();
  const of = ['--scopes', 'enqueue,work,read', '--expires', '90d', '--tenant', 'acme'];
  const name = 'the-importer-of-the-accounts';
  await terminal.run('keys', 'create', name, ...of, '--queues', 'mail,bulk', '--requests-per-minute', '60');
  const wide = (await terminal.run('keys', 'list', '--tenant', '*')).out;
  expect(wide).toContain('queues mail, bulk; 60/min');
  terminal.columns = 80;
  const narrow = (await terminal.run('keys', 'list', '--tenant', '*')).out.trimEnd().split('\n');
  expect(narrow[0]).toContain('ONLY');
  expect(narrow[1]).toContain('queue');
  for (const line of narrow) expect(line.length).toBeLessThanOrEqual(80);
});

test('D6: show colours the state of a key, and the text stays the same', async () => {
  const terminal = new Terminal();
  const { key } = (await terminal.json('keys', 'create', 'ci', '--scopes', 'read')) as { key: { id: string } };
  const plain = await terminal.run('keys', 'show', key.id);
  terminal.isTty = true;
  const shown = await terminal.run('keys', 'show', key.id);
  expect(shown.out).toContain('\u001b[36mactive\u001b[39m\n');
  expect(stripVTControlCharacters(shown.out)).toBe(plain.out);
});

test('no keys says where was looked, and how to see those of others', async () => {
  const terminal = await keyedTerminal();
  const answered = async (...args: string[]) => (await terminal.run('keys', 'list', ...args)).out;
  expect(await answered()).toContain('No keys in the tenant of the key (the one without a name, if it is for all).');
  expect(await answered('--tenant', 'acme')).toBe(
    "No keys in the tenant 'acme'.\n--tenant '*' lists those of all tenants.\n",
  );
});

test.each(PLACES)('keys are made, listed, rotated and revoked on %s', async (_, open) => {
  const terminal = await open();
  terminal.now = Date.now();
  const more = ['--queues', 'mail,bulk', '--expires', '90d', '--requests-per-minute', '60', '--tenant', 'acme'];
  const made = await terminal.run('keys', 'create', 'ci', '--scopes', 'enqueue,work', ...more);
  expect([made.code, made.err]).toEqual([0, '']);
  const secret = lastLine(made.raw);
  const [, id = ''] = SECRET.exec(secret)!;
  for (const fact of [id, 'ci', 'acme', 'enqueue, work', 'queues mail, bulk', '60 per minute', 'in 90d'])
    expect(made.raw).toContain(fact);

  const acme = ['--tenant', 'acme'];
  expect(await terminal.json('keys', ...acme)).toMatchObject({
    keys: [{ id, name: 'ci', tenant: 'acme', scopes: ['enqueue', 'work'], queues: ['mail', 'bulk'] }],
  });
  expect(await terminal.json('keys', 'list')).toEqual({ keys: [] });
  const shown = await terminal.text('keys', 'show', id.slice(0, 5), ...acme);
  for (const fact of [id, 'enqueue, work', 'queues mail, bulk', '60 per minute', 'in 90d', 'active'])
    expect(shown).toContain(fact);
  expect(shown).toMatch(/used +never/);
  expect(await terminal.json('keys', 'show', secret, ...acme)).toEqual({
    key: expect.objectContaining({ id, scopes: ['enqueue', 'work'] }),
  });
  expect((await terminal.run('keys', 'show', id)).code).toBe(7);
  const rotated = await terminal.run('keys', 'rotate', id.slice(0, 5), '--keep-old', '1h', ...acme);
  expect(lastLine(rotated.raw)).toMatch(new RegExp(`^wb_${id}_`));
  expect(lastLine(rotated.raw)).not.toBe(secret);
  expect(rotated.raw).toContain('The secret before counts for 1h more.');
  // A secret names its key too, as does what a log shows of it.
  expect(await terminal.text('keys', 'revoke', lastLine(rotated.raw), ...acme)).toBe(`\n${id} (ci) revoked\n`);
  expect(await terminal.text('keys', 'revoke', `wb_${id}`, ...acme)).toBe(`\n${id} (ci) revoked\n`);
  expect((await terminal.run('keys', 'rotate', id, ...acme)).code).toBe(8);
  expect(await terminal.text('keys', 'show', id, ...acme)).toMatch(/state +revoked\n(.*\n)*rotated .*\n *revoked /);
  expect((await terminal.run('keys', 'revoke', id)).code).toBe(7);
  const listed = await terminal.text('keys', 'list', ...acme);
  expect(listed).toMatch(/ID +NAME +SCOPES +ONLY +STATE +USED +EXPIRES\n.*enqueue,work.* revoked /);
  for (const one of [secret, lastLine(rotated.raw)]) expect(listed).not.toContain(one.slice(-43));
});

test('--json is one document, with the secret in it', async () => {
  const terminal = new Terminal();
  const made = (await terminal.json('keys', 'create', 'ci', '--scopes', 'read')) as { key: object; secret: string };
  expect(made).toEqual({
    key: expect.objectContaining({ name: 'ci', scopes: ['read'], created_by: 'cli' }),
    secret: expect.stringMatching(SECRET),
  });
  const id = SECRET.exec(made.secret)![1]!;
  expect(await terminal.json('keys', 'rotate', id)).toMatchObject({
    key: { id },
    secret: expect.stringMatching(SECRET),
  });
  expect(await terminal.json('keys', 'revoke', id)).toMatchObject({ key: { id, revoked_at: expect.any(String) } });
});

test('the secret stays in one line at a narrow terminal', async () => {
  const terminal = new Terminal();
  terminal.isTty = true;
  terminal.columns = 40;
  expect(lastLine((await terminal.run('keys', 'create', 'ci', '--scopes', 'read')).raw)).toMatch(SECRET);
});

test.each([PLACES[0]!, PLACES[2]!])("'*' means all tenants on %s", async (_, open) => {
  const terminal = await open();
  const all = ['--tenant', '*'];
  const secret = lastLine((await terminal.run('keys', 'create', 'ops', '--scopes', 'admin', ...all)).raw);
  await terminal.run('keys', 'create', 'ci', '--scopes', 'read', '--tenant', 'acme');
  const { keys } = (await terminal.json('keys', 'list', ...all)) as { keys: { name: string; tenant: string }[] };
  expect(
    keys
      .filter(({ name }) => name !== 'test')
      .map(({ name, tenant }) => [name, tenant])
      .sort(),
  ).toEqual([
    ['ci', 'acme'],
    ['ops', '*'],
  ]);
  expect(await terminal.text('keys', 'list', ...all)).toContain('TENANT');
  expect((await terminal.run('keys', 'revoke', secret.slice(0, 12))).code).toBe(7);
  expect((await terminal.run('keys', 'revoke', secret, ...all)).code).toBe(0);
});

test.each([PLACES[0]!, PLACES[2]!])(
  'an operator ends or rotates a key of any tenant by its secret on %s',
  async (_, open) => {
    const terminal = await open();
    terminal.now = Date.now();
    const made = async (tenant: string) =>
      lastLine((await terminal.run('keys', 'create', 'ci', '--scopes', 'read', '--tenant', tenant)).raw);
    for (const tenant of ['acme', '*']) {
      const rotated = lastLine((await terminal.run('keys', 'rotate', await made(tenant))).raw);
      expect(rotated).toMatch(SECRET);
      expect(await terminal.run('keys', 'revoke', rotated)).toMatchObject({ code: 0, err: '' });
      const { keys } = (await terminal.json('keys', 'list', '--tenant', tenant)) as { keys: { revoked_at: unknown }[] };
      expect(keys).toContainEqual(expect.objectContaining({ name: 'ci', revoked_at: expect.any(String) }));
    }
    // The tenant that the environment names is that of all commands, and not what the secret says.
    terminal.env = { ...terminal.env, WAYBILL_TENANT: 'other' };
    expect((await terminal.run('keys', 'revoke', await made('acme'))).code).toBe(0);
  },
);

test('a caller of one tenant ends no key of another tenant by its secret', async () => {
  const { url, secretFor, waybill } = await keyedServer();
  const terminal = new Terminal(url);
  terminal.env = { WAYBILL_KEY: await secretFor({}, 'acme') };
  const theirs = await secretFor({}, 'other');
  expect((await terminal.run('keys', 'revoke', theirs)).code).toBe(7);
  expect(await waybill.keys!.identify(theirs)).not.toBeNull();
  expect((await terminal.run('keys', 'revoke', await secretFor({ name: 'old' }, 'acme'))).code).toBe(0);
});

test.each([PLACES[0]!, PLACES[2]!])(
  'a key that is not found tells how to look in other tenants on %s',
  async (_, open) => {
    const terminal = await open();
    terminal.now = Date.now();
    const { raw } = await terminal.run('keys', 'create', 'ci', '--scopes', 'read', '--tenant', 'acme');
    const [, id = ''] = SECRET.exec(lastLine(raw))!;
    const told = async (verb: string, ...line: string[]) => {
      const { code, err } = await terminal.run('keys', verb, ...line);
      expect([code, err]).toEqual([7, expect.not.stringContaining('jobs')]);
      return err;
    };
    for (const verb of ['revoke', 'rotate'])
      for (const named of [id, id.slice(0, 5)]) expect(await told(verb, named)).toContain("--tenant '*'");
    expect(await told('revoke', `wb_abcdefghjkmn_${'S'.repeat(43)}`)).toContain('No tenant has this key.');
    expect(await told('revoke', FORGED)).toContain('The id of a key has 12 characters');
  },
);

test('--print-entry stores nothing, and its entry is one that a server takes', async () => {
  const terminal = new Terminal();
  const line = [
    'keys',
    'create',
    'edge',
    '--scopes',
    'enqueue',
    '--tenant',
    'acme',
    '--expires',
    '2100-01-31T12:00:00Z',
  ];
  const { raw } = await terminal.run(...line, '--print-entry');
  const secret = lastLine(raw);
  const entry = JSON.parse(/^\{[\s\S]*?^\}/m.exec(raw)![0]);
  expect(entry).toEqual({
    ...{ id: SECRET.exec(secret)![1], name: 'edge', scopes: ['enqueue'], tenant: 'acme' },
    ...{ sha256: hashOfSecret(secret), expires_at: '2100-01-31T12:00:00.000Z' },
  });
  expect(await givenKeys({ text: JSON.stringify([entry]) }).identify(secret)).toMatchObject({
    principal: { id: entry.id, tenant: 'acme' },
  });
  const document = (await terminal.json(...line, '--print-entry', '--requests-per-minute', '5')) as object;
  expect(document).toEqual({ entry: expect.objectContaining({ requests_per_minute: 5 }), secret: expect.any(String) });
  // No store was made.
  expect((await terminal.run('keys', 'list')).code).toBe(7);
});

test.each<[string[], string]>([
  [['create', 'ci'], 'needs --scopes: some of enqueue, work, read, metrics, admin.'],
  [['create', 'ci', '--scopes', 'root'], "--scopes does not know 'root'."],
  [['create', 'ci', '--scopes', 'work', '--types', 'a.b'], "'types' cannot narrow the scope work"],
  [['create', 'ci', '--scopes', 'work', '--types', 'a.b', '--print-entry'], "'types' cannot narrow the scope work"],
  [['create', 'ci', '--scopes', 'read', '--expires', 'soon'], "--expires must be a duration, not 'soon'."],
  [['create', 'ci', '--scopes', 'read', '--expires', '2001-01-01T00:00:00Z'], '--expires must lie in the future.'],
  [['create', 'ci', '--scopes', 'read', '--expires', '0d'], '--expires must lie in the future.'],
  [['create', 'ci', '--scopes', 'read', '--tenant', '~system'], 'must not begin with'],
  [['create', 'ci', '--scopes', 'read', '--tenant', '~system', '--print-entry'], 'must not begin with'],
  [['create', 'ci', '--scope', 'read'], "Did you mean '--scopes'?"],
  [['create', 'ci', FORGED, '--scopes', 'read'], "does not take 'wb_***'"],
  [['rotate', 'abc'], "'abc' is too short for an id"],
  [['rotate', 'abcd', '--keep-old', 'long'], '--keep-old must be a duration'],
])('waybill keys %j is wrong usage', async (line, why) => {
  const terminal = new Terminal();
  await terminal.run('keys', 'create', 'first', '--scopes', 'read');
  const before = await terminal.json('keys', 'list');
  const { code, err } = await terminal.run('keys', ...line);
  expect([code, err]).toEqual([2, expect.stringContaining(why)]);
  expect(err).not.toContain('S3cr3t');
  expect(await terminal.json('keys', 'list')).toEqual(before);
});

test('the begin of an id must be that of one key', async () => {
  const id = (letter: string) => `abcd${letter.repeat(8)}`;
  const list = async () => ['e', 'f', 'g'].map((letter) => ({ id: id(letter) }));
  const opened = { keys: { list } as unknown as Keys, whose: {} };
  expect(await wholeKeyId(opened, 'abcdf')).toBe(id('f'));
  expect(await wholeKeyId(opened, 'WB_ABCDF'.toLowerCase())).toBe(id('f'));
  await expect(wholeKeyId(opened, 'abcd')).rejects.toMatchObject({
    message: "Several keys have an id that begins with 'abcd'.",
    hint: `Give more of it: ${id('e')}, ${id('f')}, ${id('g')}.`,
  });
  expect(await wholeKeyId(opened, 'zzzz')).toBe('zzzz');
});

test('a key that is given by hand has no meaning with a store; in the environment it is for servers', async () => {
  const terminal = new Terminal();
  terminal.env = { WAYBILL_KEY: FORGED };
  expect((await terminal.run('enqueue', 'a.b')).code).toBe(0);
  const { code, err } = await terminal.run('jobs', 'list', '--key', FORGED);
  expect([code, err]).toEqual([2, expect.stringContaining('--key has no effect with the store sqlite:')]);
  expect(err).not.toContain('S3cr3t');
});

test('a server that asks for a key is told one by --key or by WAYBILL_KEY, and else says what to do', async () => {
  const { url, secretFor } = await keyedServer();
  const terminal = new Terminal(url);
  const refusal = async (...line: string[]) => {
    const { code, err } = await terminal.run(...line);
    expect(err).not.toContain('S3cr3t');
    return [code, err];
  };
  expect(await refusal('jobs', 'list')).toEqual([
    16,
    expect.stringContaining('Name a key that this server knows: by WAYBILL_KEY'),
  ]);
  expect(await refusal('jobs', 'list', '--key', FORGED)).toEqual([
    16,
    expect.stringContaining('Check WAYBILL_KEY or --key'),
  ]);
  const reader = await secretFor({ scopes: ['read'] }, 'acme');
  expect(await terminal.json('jobs', 'list', '--key', reader)).toMatchObject({ jobs: [] });
  expect(await refusal('enqueue', 'a.b', '--key', reader)).toEqual([
    17,
    expect.stringContaining('Name a key whose scopes'),
  ]);
  expect(await refusal('keys', 'list', '--key', reader)).toEqual([
    17,
    expect.stringContaining('WAYBILL_KEY, or by --key'),
  ]);
  terminal.env = { WAYBILL_KEY: await secretFor({ scopes: ['enqueue'] }, 'acme') };
  expect((await terminal.run('enqueue', 'a.b')).code).toBe(0);
  // By hand beats the environment.
  expect(await terminal.json('jobs', 'list', '--key', reader)).toMatchObject({ jobs: [{ type: 'a.b' }] });
});

test('an idempotency key that is given as --key is refused, so that no job runs twice', async () => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const terminal = new Terminal(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  for (const key of ['report-2030-01', '01940000-0000-7000-8000-000000000001', 'a'.repeat(60)]) {
    const { code, err } = await terminal.run('enqueue', 'a.b', '--key', key);
    expect([code, err]).toEqual([2, expect.stringContaining('--idempotency-key')]);
    expect(err).not.toContain(key);
  }
  expect(asked).toEqual([]);
});

test('a worker and a tail show their key too', async () => {
  const { url, secretFor, waybill } = await keyedServer();
  const file = path.join(folder(), 'tasks.mjs');
  writeFileSync(file, "export const t = { name: 'key.job', schema: undefined, policy: {}, run: () => 'done' };");
  const terminal = new Terminal(url);
  // Just what a worker needs.
  terminal.env = { WAYBILL_KEY: await secretFor({ scopes: ['work'] }, 'acme') };
  const working = terminal.run('work', file, '--quiet');
  const producer = new Terminal(url);
  producer.env = { WAYBILL_KEY: await secretFor({ scopes: ['enqueue', 'read'] }, 'acme') };
  expect(await producer.text('enqueue', 'key.job', '--wait')).toBe('\ndone\n');
  producer.onOutput = () => producer.interruption.abort();
  expect(await producer.text('tail', '--since', 'start')).toMatch(/key\.job ID-\S+ enqueued\n/);
  expect((await waybill.jobs.list({ filter: { tenant: 'acme' } })).items).toMatchObject([{ state: 'completed' }]);
  terminal.interruption.abort();
  expect((await working).code).toBe(0);
});

test('a worker with a key that the server does not know ends at once, and says where a key goes', async () => {
  const { url } = await keyedServer();
  const terminal = new Terminal(url);
  terminal.env = { WAYBILL_KEY: FORGED };
  const module = path.join(folder(), 'tasks.mjs');
  writeFileSync(module, "export default [{ name: 'a.b', schema: undefined, policy: {}, run: () => 1 }];");
  const { code, err } = await terminal.run('work', module);
  expect(code).not.toBe(0);
  expect(err).toContain('WAYBILL_KEY');
});

test.each<[string, Partial<KeyRequest>, string]>([
  ['the scope', { scopes: ['enqueue', 'read'] }, "lacks the scope 'work'"],
  ['a queue', { scopes: ['work', 'read'], queues: ['mails'] }, "may not use the queue 'default'"],
  ['a queue, where it may not read', { scopes: ['work'], queues: ['mails'] }, "may not use the queue 'default'"],
])('a worker whose key lacks %s ends at once, and says what is missing', async (_, request, why) => {
  const { url, secretFor } = await keyedServer();
  const terminal = new Terminal(url);
  terminal.env = { WAYBILL_KEY: await secretFor(request) };
  const module = path.join(folder(), 'tasks.mjs');
  writeFileSync(module, "export default [{ name: 'a.b', schema: undefined, policy: {}, run: () => 1 }];");
  const { code, out, err } = await terminal.run('work', module, '--quiet');
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(why);
  expect(err.replaceAll(/\s+/g, ' ')).toContain('a key with the scope work that sees its queues: default.');
});

test('whoever may enqueue and not read learns the id of the job that --wait cannot wait for', async () => {
  const { url, secretFor, waybill } = await keyedServer();
  const terminal = new Terminal(url);
  terminal.env = { WAYBILL_KEY: await secretFor({ scopes: ['enqueue'] }) };
  const { code, err } = await terminal.run('enqueue', 'mail.send', '--wait');
  expect((await waybill.jobs.list()).items).toHaveLength(1);
  expect(code).toBe(17);
  expect(err).toMatch(/job ID-1\.* was enqueued/);
});

test('a rotation of the key of lease tokens says what happens when, and when the next one is possible', async () => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  await terminal.run('keys', 'rotate-tokens');
  const { code, raw } = await terminal.run('keys', 'rotate-tokens');
  expect(code).toBe(0);
  const times = /(\S+Z) {2}servers sign with the new key.*\n(\S+Z) {2}the next rotation is possible/.exec(raw)!;
  expect(Date.parse(times[2]!) - Date.parse(times[1]!)).toBe(300_000);
  const early = await terminal.run('keys', 'rotate-tokens');
  expect(early.code).not.toBe(0);
  expect(early.err).toMatch(/The last rotation of the key for task tokens is not over/);
});
