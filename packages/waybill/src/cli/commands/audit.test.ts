import { engine, silentLogger } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { Terminal } from '../testing/terminal.ts';

const HOUR = 3_600_000;

let terminal: Terminal;
const done = (principal: string, action: string, target: string, outcome: 'ok' | 'forbidden' = 'ok') =>
  terminal.engine(({ audit }) => audit!.record({ principal, action, target, outcome, requestId: 'r1' }));

beforeEach(async () => {
  terminal = new Terminal();
  await terminal.run('enqueue', 'a.b');
  await done('old', 'crons.put', 'nightly');
  terminal.now += 2 * HOUR;
  await done('ada', 'queues.pause', 'mail');
  await done('eve', 'keys.create', 'mine', 'forbidden');
});

test('shows who did what, and no other events', async () => {
  expect(await terminal.text('audit')).toMatchInlineSnapshot(`
    "
    2030-01-01 00:00:00 old ok        crons.put nightly
    2030-01-01 02:00:00 ada ok        queues.pause mail
    2030-01-01 02:00:00 eve forbidden keys.create mine
    "
  `);
});

test('by moment, caller and action, and the newest of them', async () => {
  const targets = async (...args: string[]) =>
    JSON.parse((await terminal.run('audit', '--json', ...args)).raw).audit.map(
      ({ target }: { target: string }) => target,
    );
  expect(await targets('--since', '1h')).toEqual(['mail', 'mine']);
  expect(await targets('--principal', 'ada')).toEqual(['mail']);
  expect(await targets('--action', 'crons.')).toEqual(['nightly']);
  expect(await targets('--limit', '1')).toEqual(['mine']);
  expect(await targets('--tenant', 'other')).toEqual([]);
});

test('--json has the words of the HTTP interface', async () => {
  expect(JSON.parse((await terminal.run('audit', '--json', '--principal', 'eve')).raw)).toEqual({
    audit: [
      {
        ...{ time: '2030-01-01T02:00:00.000Z', principal: 'eve', action: 'keys.create', target: 'mine' },
        ...{ outcome: 'forbidden', request_id: 'r1', cursor: expect.any(String) },
      },
    ],
    cursor: expect.any(String),
  });
});

test('--follow goes on with what is done from then on', async () => {
  let lines = 0;
  terminal.onOutput = (text) => {
    lines += text.split('\n').length - 1;
    if (lines === 1) void done('bob', 'queues.resume', 'other').then(() => done('ada', 'queues.resume', 'mail'));
    if (lines === 2) terminal.interruption.abort();
  };
  const { code, out } = await terminal.run('audit', '--follow', '--principal', 'ada');
  expect([code, out.match(/queues\.\w+/g)]).toEqual([0, ['queues.pause', 'queues.resume']]);
});

test('a narrow terminal cuts the target, never what came of it; the name of the key stands behind', async () => {
  const entry = { principal: 'k7mqx2abcdef', name: 'ci', action: 'webhooks.redeliver', outcome: 'forbidden' } as const;
  await terminal.engine(({ audit }) => audit!.record({ ...entry, target: 'a-name-that-is-much-too-long-for-this' }));
  const last = async () => (await terminal.run('audit', '--limit', '1')).out.trimEnd();
  expect(await last()).toMatch(/ forbidden webhooks\.redeliver a-name-that-is-much-too-long-for-this \(ci\)$/);
  terminal.columns = 80;
  expect(await last()).toMatch(/^.{19} k7mqx2abcdef forbidden webhooks\.redeliver a-name-/);
  expect((await last()).length).toBeLessThanOrEqual(80);
});

test('nothing was done, says in which tenant, and a wrong moment', async () => {
  expect((await terminal.run('audit', '--since', '1ms')).code).toBe(0);
  expect(await terminal.text('audit', '--action', 'limits.set')).toMatchInlineSnapshot(`
    "
    Nothing of the kind is written down in the tenant without a name.
    Another tenant is named with --tenant NAME.
    "
  `);
  expect(await terminal.text('audit', '--since', 'soon')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: --since must be a moment, not 'soon'.
      Write it like 2h, 7d, 2030-01-31 or 2030-01-31T12:00:00Z.
    "
  `);
});

test('a caller by the first characters of its id, by its name, or by its secret, also one that is no key', async () => {
  const { raw } = await terminal.run('keys', 'create', 'ops', '--scopes', 'admin');
  const secret = raw.trimEnd().split('\n').at(-1)!;
  const id = secret.split('_')[1]!;
  const shownBy = async (principal: string) => {
    const { code, out, err } = await terminal.run('audit', '--principal', principal);
    return [code, out.match(/queues\.\w+/g), err];
  };
  // A key that has done nothing is known all the same.
  expect(await shownBy('ops')).toEqual([0, null, '']);
  const entry = { principal: id, name: 'ops', action: 'queues.resume', target: 'mail', outcome: 'ok' } as const;
  await terminal.engine(({ audit }) => audit!.record(entry));
  for (const named of [id, id.slice(0, 5), `wb_${id}`, 'ops', secret])
    expect(await shownBy(named)).toEqual([0, ['queues.resume'], '']);
  // A token of an issuer is no key, and shows the name that its claims give.
  await terminal.engine(({ audit }) => audit!.record({ ...entry, principal: 'user-4711', name: 'ada.l' }));
  for (const named of ['user-4711', 'user-', 'ada.l']) expect(await shownBy(named)).toEqual([0, ['queues.resume'], '']);
});

test('an unknown caller is not found, and one of several is asked for', async () => {
  expect(await terminal.text('audit', '--principal', 'nobody')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: There is no caller 'nobody' in the tenant without a name.
      \`waybill keys list\` lists the keys. Another tenant is named with --tenant NAME.
    "
  `);
  const forged = `wb_abcdefghjkmn_${'S'.repeat(43)}`;
  const { code, err } = await terminal.run('audit', '--principal', forged);
  expect([code, err]).toEqual([7, expect.not.stringContaining('SSS')]);
  for (const principal of ['user-1', 'user-2'])
    await terminal.engine(({ audit }) =>
      audit!.record({ principal, name: 'twin', action: 'queues.pause', target: 'mail', outcome: 'ok' }),
    );
  for (const named of ['user-', 'twin'])
    expect(await terminal.run('audit', '--principal', named)).toMatchObject({
      code: 2,
      err: expect.stringContaining('user-1, user-2'),
    });
});

test("'*' is the audit of all tenants on a store, and says what to do on a server", async () => {
  const entry = { principal: 'bob', action: 'queues.pause', target: 'mail', outcome: 'ok' } as const;
  await terminal.engine(({ audit }) => audit!.record(entry, { tenant: 'acme' }));
  const { out } = await terminal.run('audit', '--tenant', '*', '--limit', '2');
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(20)),
  ).toEqual([expect.stringMatching(/ eve forbidden keys\.create mine$/), 'acme bob ok        queues.pause mail']);
  expect(await terminal.json('audit', '--tenant', '*', '--principal', 'bob')).toMatchObject({
    audit: [{ tenant: 'acme', principal: 'bob' }],
  });
  const refused = await terminal.run('audit', '--tenant', '*', '--store', 'http://127.0.0.1:9');
  expect([refused.code, refused.err]).toEqual([6, expect.stringContaining('waybill tenants list')]);
});

test('against a server', async () => {
  const waybill = engine({ store: await openStore(terminal.store), maintenance: false, logger: silentLogger });
  const listening = await serve(createApp({ waybill, version: '0.0.0-test', logger: silentLogger }), { port: 0 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  const { out } = await terminal.run('audit', '--principal', 'eve', '--store', listening.url);
  expect(out.trim().split(/ +/).slice(2)).toEqual(['eve', 'forbidden', 'keys.create', 'mine']);
});
