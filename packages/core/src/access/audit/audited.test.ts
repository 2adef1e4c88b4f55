import { expect, test } from 'vitest';
import type { LoggedEvent } from '../../events/job-event.ts';
import { testEngine } from '../../testing/test-engine.ts';
import type { Waybill } from '../../waybill.ts';
import { newKeyId, newSecret } from '../keys/key-secret.ts';
import type { Principal } from '../principal.ts';
import { scoped } from '../scoped.ts';
import { audited, type DoneCall } from './audited.ts';
import { readAudit } from './read-audit.ts';

const ADMIN: Principal = { id: 'ada', tenant: 'a', scopes: ['admin'] };

/** A port that writes down what is done, into the tenant of its principal. */
const portOf = (waybill: Waybill, principal: Principal): Waybill =>
  audited(scoped(waybill, principal), ({ tenant = principal.tenant, ...done }) =>
    waybill.audit!.record({ principal: principal.id, ...done }, { tenant }),
  );

const entries = async (waybill: Waybill, tenant = 'a') =>
  (await readAudit(waybill.events, { tenant }, { limit: 100 })).events.map(({ subject, data }) => ({
    subject,
    ...data,
  }));

test('says who did what, to what, and what came of it', async () => {
  const { waybill } = testEngine();
  const port = portOf(waybill, ADMIN);
  await port.queues.pause('mail');
  await port.crons.remove('gone').catch(() => {});
  await port.deadLetters.replayMany({});
  await portOf(waybill, { ...ADMIN, id: 'eve', scopes: ['read'] })
    .queues.resume('mail')
    .catch(() => {});
  expect(await entries(waybill)).toEqual([
    { subject: 'ada', action: 'queues.pause', target: 'mail', outcome: 'ok' },
    { subject: 'ada', action: 'crons.remove', target: 'gone', outcome: 'not_found' },
    { subject: 'ada', action: 'deadLetters.replayMany', target: null, outcome: 'ok' },
    { subject: 'eve', action: 'queues.resume', target: 'mail', outcome: 'forbidden' },
  ]);
  expect(await entries(waybill, 'b')).toEqual([]);
});

test('a call about another tenant stands in that tenant, and a refused one in that of the caller', async () => {
  const { waybill } = testEngine();
  const operator = audited(scoped(waybill, { id: 'op', tenant: '*', scopes: ['admin'] }), ({ tenant = '', ...done }) =>
    waybill.audit!.record({ principal: 'op', ...done }, { tenant }),
  );
  await operator.queues.pause('mail', { tenant: 'a' });
  await portOf(waybill, { ...ADMIN, id: 'eve', tenant: 'b' })
    .queues.pause('mail', { tenant: 'a' })
    .catch(() => {});
  expect(await entries(waybill)).toMatchObject([{ subject: 'op' }]);
  expect(await entries(waybill, 'b')).toMatchObject([{ subject: 'eve', outcome: 'forbidden' }]);
});

test('only admin sees it in the log, and whoever asks for it without that right is refused', async () => {
  const { waybill } = testEngine();
  await portOf(waybill, ADMIN).queues.pause('mail');
  const typesFor = async (principal: Principal) =>
    (await scoped(waybill, principal).events.read()).events.map(({ type }) => type);
  expect(await typesFor(ADMIN)).toEqual(['queue.paused', 'audit.recorded']);
  expect(await typesFor({ ...ADMIN, scopes: ['read', 'work', 'enqueue', 'metrics'] })).toEqual(['queue.paused']);
  expect(await typesFor({ ...ADMIN, queues: ['mail'] })).toEqual(['queue.paused']);

  const filter = { types: ['audit.recorded'] as const };
  const { signal } = new AbortController();
  for (const less of [{ scopes: ['read'] as const }, { queues: ['mail'] }]) {
    const { events } = scoped(waybill, { ...ADMIN, ...less });
    await expect(events.read({ filter })).rejects.toMatchObject({ code: 'forbidden' });
    expect(() => events.follow({ filter, signal })).toThrow(expect.objectContaining({ code: 'forbidden' }));
  }
});

test('a reader who follows is not shown it either', async () => {
  const { waybill } = testEngine();
  await portOf(waybill, ADMIN).queues.pause('mail');
  await waybill.queues.resume('mail', { tenant: 'a' });
  const leaving = new AbortController();
  const shown: LoggedEvent['type'][] = [];
  const reader = scoped(waybill, { ...ADMIN, scopes: ['read'] });
  for await (const { type } of reader.events.follow({ signal: leaving.signal })) {
    shown.push(type);
    if (type === 'queue.resumed') leaving.abort();
  }
  expect(shown).toEqual(['queue.paused', 'queue.resumed']);
});

test('neither the secret of a key nor what is no text gets into it', async () => {
  const { waybill } = testEngine();
  const id = newKeyId();
  const secret = newSecret(id);
  const port = portOf(waybill, ADMIN);
  await port.keys!.revoke(secret).catch(() => {});
  await port.crons.put({ name: { secret } } as never).catch(() => {});
  await port.queues.pause(`\u0000\ud800${'x'.repeat(9_999)}`).catch(() => {});
  const text = JSON.stringify(await entries(waybill));
  expect(text).not.toContain(secret.slice(-43));
  expect(text).toContain(`wb_${id}_***`);
  expect(await entries(waybill)).toMatchObject([
    ...[{ outcome: 'not_found' }, { target: null, outcome: 'invalid_request' }],
    { target: expect.stringMatching(/^ .x{198}$/u), outcome: 'invalid_request' },
  ]);
});

test('is read by moment, principal and action, page by page', async () => {
  const { waybill, clock } = testEngine();
  const [ada, bob] = [portOf(waybill, ADMIN), portOf(waybill, { ...ADMIN, id: 'bob' })];
  await ada.queues.pause('one');
  await clock.advance(1_000);
  const since = clock.now();
  await bob.queues.pause('two');
  await ada.queues.resume('two');
  await ada.limits.set('api', { concurrency: 1, rate: null });
  const read = async (query: object) =>
    (await readAudit(waybill.events, { tenant: 'a', ...query }, { limit: 9 })).events.map(({ data }) => data['target']);
  expect(await read({ since })).toEqual(['two', 'two', 'api']);
  expect(await read({ principal: 'bob' })).toEqual(['two']);
  expect(await read({ action: 'queues.pause' })).toEqual(['one', 'two']);
  expect(await read({ action: 'queues.' })).toEqual(['one', 'two', 'two']);
  expect(await read({ action: 'queues' })).toEqual([]);

  const pages: unknown[][] = [];
  let page = await readAudit(waybill.events, { tenant: 'a' }, { limit: 3 });
  pages.push(page.events);
  while (!page.atEnd) {
    page = await readAudit(waybill.events, { tenant: 'a' }, { after: page.cursor, limit: 3 });
    pages.push(page.events);
  }
  expect(pages.map((one) => one.length)).toEqual([3, 1]);
});

test('an entry that cannot be written is the teller’s to report: the call has its own answer', async () => {
  const { waybill } = testEngine();
  const done: DoneCall[] = [];
  const port = audited(scoped(waybill, ADMIN), async (one) => void done.push(one));
  await expect(port.queues.pause('mail')).resolves.toMatchObject({ paused: true });
  await expect(port.crons.remove('gone')).rejects.toMatchObject({ code: 'not_found' });
  expect(done.map(({ outcome }) => outcome)).toEqual(['ok', 'not_found']);
});

test('goes with the log when its time has come', async () => {
  const { waybill, store, clock } = testEngine({ maintenance: false });
  const port = portOf(waybill, ADMIN);
  await port.queues.pause('old');
  await clock.advance(86_400_000);
  await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: clock.now(), limit: 1_000 });
  await port.queues.pause('new');
  expect(await entries(waybill)).toMatchObject([{ target: 'new' }]);
});
