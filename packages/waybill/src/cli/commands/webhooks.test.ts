import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { startHost } from '../host.ts';
import { Terminal } from '../testing/terminal.ts';

const URL = 'https://example.com/hooks?key=token-in-the-query';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** Ids and secrets of webhooks are random. */
const named = (text: string): string =>
  text.replaceAll(/wh_[0-9a-f]{16}/g, 'wh_0000000000000001').replaceAll(/whsec_\S+/g, 'whsec_SECRET');

async function created(terminal: Terminal, ...more: string[]): Promise<{ id: string; secret: string; out: string }> {
  const { code, out, err } = await terminal.run('webhooks', 'create', URL, ...more);
  expect([code, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  return { id: lines[0]!.split(' ', 1)[0]!, secret: lines.at(-1)!, out };
}

test('create, list, show, pause, resume, rotate and remove, on a store', async () => {
  const terminal = new Terminal();
  const more = [
    '--events',
    'job.completed,job.failed',
    '--queues',
    'mail',
    '--types',
    'mail.send',
    '--description',
    'shop',
  ];
  const { id, secret, out } = await created(terminal, ...more);
  expect(secret).toMatch(SECRET);
  expect(named(`\n${out}`)).toMatchInlineSnapshot(`
    "
    wh_0000000000000001 sends job.completed, job.failed to https://example.com/hooks?key=***

    Keep the secret now, it is not shown again:
    whsec_SECRET
    "
  `);
  expect(named(await terminal.text('webhooks', 'list'))).toMatchInlineSnapshot(`
    "
    ID                   URL                                EVENTS                    STATUS  DELIVERED  LAST ERROR
    wh_0000000000000001  https://example.com/hooks?key=***  job.completed,job.failed  active          0  -
    "
  `);
  terminal.now += 60_000;
  expect(named(await terminal.text('webhooks', 'show', id))).toMatchInlineSnapshot(`
    "
    webhook      wh_0000000000000001
    url          https://example.com/hooks?key=***
    description  shop
    events       job.completed, job.failed
    queues       mail
    job types    mail.send
    created      1m ago
    status       active
    delivered    0
    lag          none
    "
  `);
  expect(named(await terminal.text('webhooks', 'pause', id))).toMatchInlineSnapshot(`
    "
    wh_0000000000000001 is paused
    "
  `);
  expect(await terminal.json('webhooks', 'show', id)).toMatchObject({
    webhook: { id, url: URL, paused: true, state: { status: 'paused' } },
  });
  expect(named(await terminal.text('webhooks', 'resume', id))).toMatchInlineSnapshot(`
    "
    wh_0000000000000001 is resumed
    "
  `);
  const rotated = await terminal.run('webhooks', 'rotate-secret', id);
  expect(named(`\n${rotated.out}`)).toMatchInlineSnapshot(`
    "
    wh_0000000000000001 has a new secret; the old one signs too for 1d
    whsec_SECRET
    "
  `);
  expect(rotated.out).not.toContain(secret);
  const asJson = (await terminal.json('webhooks', 'rotate-secret', id, '--keep-old', '0s')) as { secret: string };
  expect(asJson.secret).toMatch(SECRET);
  expect(named(await terminal.text('webhooks', 'remove', id))).toMatchInlineSnapshot(`
    "
    wh_0000000000000001 is removed
    "
  `);
  expect(await terminal.text('webhooks')).toBe('\nNo webhooks.\n');
});

test('D11: every command takes the begin of an id, and names the whole one', async () => {
  const terminal = new Terminal();
  const { id } = await created(terminal);
  const begin = id.slice('wh_'.length, 'wh_'.length + 6);
  for (const line of [['show'], ['pause'], ['resume'], ['redeliver', '--since', '1h'], ['rotate-secret'], ['remove']]) {
    const [verb = '', ...more] = line;
    expect(await terminal.text('webhooks', verb, begin, ...more), verb).toContain(id);
  }
  const gone = await terminal.run('webhooks', 'show', begin);
  expect([gone.code, gone.err]).toEqual([7, expect.stringMatching(/There is no webhook '.*'.\n.*webhooks list/)]);
});

test('no text for people shows what stands in the query of an address', async () => {
  const terminal = new Terminal();
  const { id, out } = await created(terminal);
  const texts = [out, await terminal.text('webhooks', 'list'), await terminal.text('webhooks', 'show', id)];
  expect(texts.join('')).not.toContain('token-in-the-query');
  expect(texts[2]).toContain('https://example.com/hooks?key=***');
});

test('at a narrow terminal the secret is still one line', async () => {
  const terminal = new Terminal();
  terminal.columns = 40;
  const { secret } = await created(terminal);
  expect(secret).toMatch(SECRET);
});

test('webhooks belong to their tenant', async () => {
  const terminal = new Terminal();
  const { id } = await created(terminal, '--tenant', 'acme');
  expect(await terminal.text('webhooks', 'list')).toBe('\nNo webhooks.\n');
  expect((await terminal.run('webhooks', 'show', id)).code).toBe(7);
  expect(await terminal.json('webhooks', 'list', '--tenant', 'acme')).toMatchObject({ count: 1 });
});

test('the same commands work against a server', async () => {
  const serve = { host: '127.0.0.1', port: 0, portGiven: true, noAuth: false, requireLease: false, allowedHosts: [] };
  const host = await startHost(
    { ...serve, store: 'sqlite::memory:', transport: 'poll', blobs: undefined },
    silentLogger,
  );
  onTestFinished(() => host.drain());
  const terminal = new Terminal(host.url);
  const { id, secret } = await created(terminal, '--tenant', 'acme');
  terminal.env = { WAYBILL_TENANT: 'acme' };
  expect(await terminal.json('webhooks')).toMatchObject({ webhooks: [{ id, state: { status: 'active' } }], count: 1 });
  await terminal.run('webhooks', 'pause', id);
  expect(await terminal.text('webhooks', 'show', id)).toMatch(/status +paused\n/);
  await terminal.run('webhooks', 'resume', id);
  const rotated = (await terminal.run('webhooks', 'rotate-secret', id)).out.trimEnd().split('\n').at(-1);
  expect([rotated, rotated === secret]).toEqual([expect.stringMatching(SECRET), false]);
  expect((await terminal.run('webhooks', 'remove', id)).code).toBe(0);
  expect((await terminal.run('webhooks', 'remove', id)).code).toBe(7);
});

test('doctor names a paused webhook, and of its address only the origin', async () => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  const checkOf = async () => {
    const { checks } = (await terminal.json('doctor')) as { checks: { name: string; message: string }[] };
    return checks.find(({ name }) => name === 'webhooks');
  };
  const { id } = await created(terminal);
  expect(await checkOf()).toBe(undefined);
  await terminal.run('webhooks', 'pause', id);
  expect(await checkOf()).toEqual({
    ...{ name: 'webhooks', status: 'warn', message: `1 paused, first ${id} to https://example.com, paused` },
    hint: `\`waybill webhooks resume ${id}\` goes on where it stopped.`,
  });
  await terminal.run('webhooks', 'remove', id);
  const { id: other } = await created(terminal, '--tenant', 'acme', '--paused');
  expect(await checkOf()).toMatchObject({
    message: `1 paused, first ${other} of tenant acme to https://example.com, paused`,
  });
});

test.each<[string[], number, string]>([
  [['create'], 2, 'needs URL'],
  [['create', 'example.com'], 2, 'https://example.com/hooks'],
  [['create', 'http://example.com/'], 2, 'https://'],
  [['create', 'https://me:hunter2@example.com/'], 2, 'password'],
  [['create', 'https://10.0.0.1/'], 2, 'private range'],
  [['create', URL, '--events', 'job.complete'], 2, "Did you mean 'job.completed'?"],
  [['create', URL, '--events', ''], 2, '--events'],
  [['create', URL, '--event', 'job.*'], 2, "Did you mean '--events'?"],
  [['show', 'nothing'], 7, "There is no webhook 'nothing'."],
  [['redeliver', 'nothing'], 2, '--since or --event'],
  [['redeliver', 'nothing', '--since', 'yesterday'], 2, '--since'],
  [['rotate-secret', 'nothing', '--keep-old', 'long'], 2, '--keep-old'],
])('webhooks %j ends with %d', async (args, code, text) => {
  const terminal = new Terminal();
  await terminal.run('migrate');
  const { code: ended, err, out } = await terminal.run('webhooks', ...args);
  expect({ ended, err }).toEqual({ ended: code, err: expect.stringContaining(text) });
  expect(err + out).not.toMatch(/hunter2|token-in-the-query/);
});
