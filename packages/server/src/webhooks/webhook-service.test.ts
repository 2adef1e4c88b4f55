import { createHmac } from 'node:crypto';
import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventToWire } from '@waybill/client';
import { engine, eventIdOf, type JsonObject, type Records, type Waybill, WaybillError } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LoggedLine } from '../testing/harness.ts';
import { nameServer } from '../testing/name-server.ts';
import { type Receiver, receiver } from '../testing/receiver.ts';
import { hostResolver } from './host-resolver.ts';
import type { WebhookService } from './service.ts';
import { type WebhookServiceOptions, webhookService } from './webhook-service.ts';

const SECRET = 'a-secret-that-nobody-may-see';
const TOKEN = 'token-in-the-path';

interface Made {
  waybill: Waybill;
  clock: TestClock;
  service: WebhookService;
  target: Receiver;
  log: LoggedLine[];
  /** Resolves when the server knows that a delivery has failed. */
  whenFailed: Promise<void>;
  /** Makes the webhook `w` of a tenant, for the receiver. */
  hook(value?: JsonObject, tenant?: string): Promise<void>;
  enqueue(tenant?: string): Promise<string>;
}

async function made(
  options: Partial<WebhookServiceOptions> = {},
  failing: (records: Records) => Records = (records) => records,
): Promise<Made> {
  const clock = new TestClock();
  const log: LoggedLine[] = [];
  const failed = Promise.withResolvers<void>();
  const note = (level: LoggedLine['level']) => (fields: object, message: string) => {
    log.push({ level, fields: fields as Record<string, unknown>, message });
    if (message === 'A delivery failed.') failed.resolve();
  };
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const waybill = engine({ store: memoryStore({ clock }), logger, maintenance: false });
  onTestFinished(() => waybill.close());
  const asked = { ...waybill, records: failing(waybill.records!) };
  const service = webhookService({ waybill: asked, clock, logger, version: '1.2.3', allowPrivate: true, ...options });
  service.start();
  const target = await receiver();
  return {
    ...{ waybill, clock, service, target, log, whenFailed: failed.promise },
    hook: async (value = {}, tenant = '') => {
      const whole = { url: `${target.url}/${TOKEN}`, events: ['job.*'], secrets: [{ secret: SECRET }], paused: false };
      const request = { kind: 'webhook', id: 'w', value: { ...whole, ...value }, expected: 0 };
      await waybill.records!.put(request, { tenant });
    },
    enqueue: async (tenant = '') => (await waybill.jobs.enqueue({ type: 'test.job', args: [] }, { tenant })).job.id,
  };
}

test('an event is sent as GET /ojs/v1/events shows it, and its signature is right', async () => {
  const { waybill, clock, target, hook, enqueue } = await made();
  await hook();
  const id = await enqueue();
  await target.whenGot(1);
  const [{ headers, text, event, path }] = target.got as [Receiver['got'][number]];
  const { events } = await waybill.events.read({ filter: { jobIds: [id] } });
  expect(event).toEqual(JSON.parse(JSON.stringify(eventToWire(events[0]!))));
  expect(event.id).toBe(eventIdOf(events[0]!));
  const timestamp = String(Math.floor(clock.now() / 1_000));
  const hmac = createHmac('sha256', SECRET).update(`${event.id}.${timestamp}.${text}`).digest('base64');
  expect(path).toBe(`/${TOKEN}`);
  expect(headers).toMatchObject({
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': 'waybill/1.2.3',
    'webhook-id': event.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac}`,
  });
});

test('a name that no header may hold is sent in another way', async () => {
  const { waybill, target, hook } = await made();
  await hook({ events: ['queue.paused'] });
  await waybill.queues.pause('a.b');
  await target.whenGot(1);
  expect(target.got[0]!.headers['webhook-id']).toBe('evt_queue_a%2Eb_server_1');
});

test('webhooks of tenants get what is theirs, and a webhook made later begins then', async () => {
  const { target, hook, enqueue } = await made();
  await enqueue('a');
  await hook({}, 'a');
  await enqueue('b');
  const id = await enqueue('a');
  await target.whenGot(1);
  expect(target.got.map(({ event }) => event.subject)).toEqual([id]);
});

test.each([
  [302, 'The receiver answered 302; redirects are not followed.'],
  [500, 'The receiver answered 500.'],
])('status %i is a failure, and the event is sent again under the same id', async (status, said) => {
  const { clock, service, target, hook, enqueue, whenFailed } = await made();
  target.answer = (response) => response.writeHead(status, { location: `${target.url}/elsewhere` }).end();
  await hook();
  await enqueue();
  await whenFailed;
  target.answer = (response) => response.writeHead(200).end('thanks');
  await clock.advance(5_000);
  await target.whenGot(2);
  const [first, second] = target.got;
  expect(first!.headers['webhook-id']).toBe(second!.headers['webhook-id']);
  expect(new Set(target.got.map(({ path }) => path))).toEqual(new Set([`/${TOKEN}`]));
  await service.stop();
  expect(await service.state('', 'w')).toMatchObject({ lastError: said, delivered: 1, failingSince: null });
});

test('a receiver that is down for an hour misses nothing, and every try of an event has the same id', async () => {
  const { clock, service, target, hook, enqueue } = await made();
  target.answer = (response) => response.destroy();
  await hook({ events: ['job.enqueued'] });
  const ids: string[] = [];
  for (let minute = 0; minute < 60; minute += 1) {
    ids.push(await enqueue());
    await clock.advance(60_000);
  }
  await target.whenGot(20);
  const accepted: string[] = [];
  target.answer = (response, { event }) => {
    accepted.push(event.subject);
    response.writeHead(204).end();
  };
  // Time passes while the requests travel, however fast the machine is.
  for (let minute = 0; minute < 600 && accepted.length < ids.length; minute += 1) await clock.advance(10_000);
  await service.stop();
  expect(accepted.sort()).toEqual(ids.sort());
  const tries = Map.groupBy(target.got, ({ event }) => event.subject);
  for (const [job, sent] of tries)
    expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([`evt_${job}_server_1`]));
  expect(await service.state('', 'w')).toMatchObject({ delivered: 60, failingSince: null, failures: 0 });
});

test('410 pauses the webhook at once, and it goes on when it is resumed', async () => {
  const { waybill, service, target, hook, enqueue } = await made();
  target.answer = (response) => response.writeHead(410).end();
  await hook();
  const paused = waybill.events.follow({ filter: { types: ['webhook.paused'] }, signal: AbortSignal.timeout(60_000) });
  await enqueue();
  const { value } = await paused[Symbol.asyncIterator]().next();
  expect(value).toMatchObject({ subject: 'w', data: { reason: expect.stringContaining('410') } });
  target.answer = (response) => response.writeHead(204).end();
  await service.resume('', 'w');
  await target.whenGot(2);
  expect(await service.state('', 'w')).toMatchObject({ status: 'active', pausedReason: null });
});

test('pause stops it, resume sends what has happened meanwhile', async () => {
  const { waybill, service, target, hook, enqueue } = await made();
  await hook();
  await service.pause('', 'w');
  expect((await waybill.records!.get('webhook', 'w')).value).toMatchObject({ paused: true });
  const id = await enqueue();
  await service.resume('', 'w');
  await target.whenGot(1);
  expect(target.got.map(({ event }) => event.subject)).toEqual([id]);
  const { events } = await waybill.events.read({ filter: { types: ['webhook.paused', 'webhook.resumed'] } });
  expect(events.map(({ type }) => type)).toEqual(['webhook.paused', 'webhook.resumed']);
});

test('a test says how it went', async () => {
  const { service, target, hook } = await made();
  await hook({ paused: true });
  expect(await service.test('', 'w')).toEqual({ ok: true, status: 204, ms: expect.any(Number) });
  expect(target.got[0]!.event).toMatchObject({ type: 'webhook.test', subject: 'w', data: { webhook_id: 'w' } });
  target.answer = (response) => response.writeHead(503).end();
  expect(await service.test('', 'w')).toMatchObject({ ok: false, status: 503, error: 'The receiver answered 503.' });
  await expect(service.test('', 'none')).rejects.toMatchObject({ code: 'not_found' });
  await expect(service.test('b', 'w')).rejects.toMatchObject({ code: 'not_found' });
});

test('sends again from a moment, from a cursor, or one event', async () => {
  const { waybill, clock, service, target, hook, enqueue } = await made();
  await hook();
  const ids = [await enqueue()];
  await clock.advance(10_000);
  ids.push(await enqueue());
  await target.whenGot(2);
  const subjects = () => target.got.map(({ event }) => event.subject);
  await service.redeliver('', 'w', { since: clock.now() });
  await target.whenGot(3);
  expect(subjects().slice(2)).toEqual([ids[1]]);
  const { events } = await waybill.events.read({ filter: { jobIds: [ids[0]!] } });
  await service.redeliver('', 'w', { eventId: eventIdOf(events[0]!) });
  expect(subjects().slice(3)).toEqual([ids[0]]);
  await service.redeliver('', 'w', { after: events[0]!.cursor });
  await target.whenGot(5);
  expect(subjects().slice(4)).toEqual([ids[1]]);
  await service.redeliver('', 'w', { since: 0 });
  await target.whenGot(7);
  expect(new Set(target.got.map(({ headers }) => headers['webhook-id'])).size).toBe(2);

  await expect(service.redeliver('', 'w', { after: 'no cursor' })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(service.redeliver('', 'w', { eventId: 'evt_none_1' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(service.redeliver('', 'none', { since: 0 })).rejects.toMatchObject({ code: 'not_found' });
});

test.each(['since', 'after'] as const)(
  'redelivery by %s never skips what a webhook that is behind has not delivered',
  async (by) => {
    const { waybill, clock, service, target, hook, enqueue, whenFailed } = await made();
    target.answer = (response) => response.writeHead(500).end();
    await hook({ events: ['job.enqueued'] });
    const early = [await enqueue(), await enqueue()];
    await whenFailed;
    await clock.advance(60_000);
    const [since, after] = [clock.now(), await waybill.events.end()];
    const late = await enqueue();
    const accepted: string[] = [];
    target.answer = (response, { event }) => {
      accepted.push(event.subject);
      response.writeHead(204).end();
    };
    await service.redeliver('', 'w', by === 'since' ? { since } : { after });
    for (let second = 0; second < 600 && accepted.length < 3; second += 1) await clock.advance(1_000);
    expect([...new Set(accepted)].sort()).toEqual([...early, late].sort());
  },
);

test('a receiver that does not answer, or never ends its answer, takes no longer than the deadline', async () => {
  const { service, target, hook } = await made({ timeoutMs: 1_000 });
  await hook();
  target.answer = () => {};
  expect(await service.test('', 'w')).toMatchObject({ ok: false, error: 'The receiver did not answer within 1 s.' });
  target.answer = (response) => void response.writeHead(200).write('a');
  expect(await service.test('', 'w')).toMatchObject({ ok: true, status: 200 });
});

test('a receiver that answers 101 has refused: the test call, the delivery and the end of the server do not hang', async () => {
  const { clock, service, hook, enqueue, whenFailed } = await made();
  const sockets = new Set<Socket>();
  const switching = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    );
  });
  switching.listen(0, '127.0.0.1');
  await once(switching, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    switching.close();
  });
  await hook({ url: `http://127.0.0.1:${(switching.address() as AddressInfo).port}/` });
  const said = 'The receiver answered 101.';
  expect(await service.test('', 'w')).toMatchObject({ ok: false, status: 101, error: said });
  await enqueue();
  await whenFailed;
  await service.stop();
  expect(await service.state('', 'w')).toMatchObject({ lastError: said, delivered: 0 });
  expect(clock.sleepers).toBe(0);
});

test('an answer without end is not read to its end', async () => {
  const { service, target, hook } = await made({ timeoutMs: 60_000 });
  await hook();
  const closed = Promise.withResolvers<void>();
  target.answer = (response) => {
    response.writeHead(200);
    response.once('close', closed.resolve);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  };
  expect(await service.test('', 'w')).toMatchObject({ ok: true });
  await closed.promise;
});

test('a name that resolves to a private address is not connected to, whatever it resolved to before', async () => {
  const answers = ['8.8.8.8', '127.0.0.1'];
  const asked: string[] = [];
  const { service, target, hook } = await made({
    allowPrivate: false,
    timeoutMs: 200,
    resolve: async (host) => {
      asked.push(host);
      return [{ address: answers.pop()!, family: 4 }];
    },
  });
  const { port } = new URL(target.url);
  await hook({ url: `https://rebound.example:${port}/`, paused: true });
  const said = 'The name resolves to addresses in private ranges only.';
  expect(await service.test('', 'w')).toMatchObject({ ok: false, error: said });
  expect([asked, target.got]).toEqual([['rebound.example'], []]);
  expect(() => service.checkUrl('https://10.0.0.1/')).toThrow(/private range/);
});

test('names that no name server answers for hold up no other webhook, and a try ends at its deadline', async () => {
  const slow = Array.from({ length: 12 }, (_, at) => `h${at}.slow.test`);
  const server = await nameServer(Object.fromEntries(slow.map((host) => [host, null])));
  const options = { timeoutMs: 1_000, resolve: hostResolver({ servers: [server.address] }) };
  const { waybill, clock, service, target, hook, enqueue } = await made(options);
  // As it is when all threads that look up names wait for a name server.
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation((() => {}) as unknown as typeof dns.lookup);
  onTestFinished(() => lookup.mockRestore());
  const value = { url: '', events: ['job.enqueued'], secrets: [{ secret: SECRET }], paused: false };
  for (const host of slow) {
    const request = { kind: 'webhook', id: host, value: { ...value, url: `http://${host}/` }, expected: 0 };
    await waybill.records!.put(request, { tenant: 'slow' });
  }
  await hook({ url: target.url.replace('127.0.0.1', 'localhost'), events: ['job.enqueued'] }, 'good');
  await enqueue('slow');
  // Once for IPv4 and once for IPv6.
  await server.whenAsked(2 * slow.length);
  const ids = [await enqueue('good'), await enqueue('good')];
  await clock.advance(1_000);
  await target.whenGot(2);
  expect(target.got.map(({ event }) => event.subject).sort()).toEqual(ids.sort());
  expect(await service.test('good', 'w')).toMatchObject({ ok: true });
  const said = 'The receiver did not answer within 1 s.';
  expect(await service.test('slow', slow[0]!)).toMatchObject({ ok: false, error: said });
  expect(lookup).not.toHaveBeenCalled();
});

test('a webhook that is damaged or forbidden now stands in no other one’s way', async () => {
  const { waybill, clock, target, hook, enqueue } = await made();
  const at = { tenant: '' };
  await waybill.records!.put({ kind: 'webhook', id: 'bad', value: { url: 7 }, expected: 0 }, at);
  const odd = { url: 'ftp://x/', events: ['*'], secrets: [], paused: false };
  await waybill.records!.put({ kind: 'webhook', id: 'odd', value: odd, expected: 0 }, at);
  await hook();
  const id = await enqueue();
  await target.whenGot(1);
  expect(target.got[0]!.event.subject).toBe(id);
  await clock.advance(2_000);
});

test.each([
  { events: [7] },
  { events: [null] },
  { secrets: [null] },
  { secrets: [{}] },
  { queues: 5 },
  { job_types: [{}] },
])('a webhook of one tenant that is damaged by %j stands in the way of no other tenant', async (damage) => {
  const { service, target, log, hook, enqueue } = await made();
  await hook(damage, 'a');
  await hook({ events: ['job.enqueued'] }, 'b');
  const id = await enqueue('b');
  // With a bound: a list that failed is repeated only after a minute.
  await expect.poll(() => target.got.map(({ event }) => event.subject), { timeout: 5_000 }).toEqual([id]);
  expect(log).toContainEqual(expect.objectContaining({ message: 'A webhook is damaged and was left out.' }));
  await enqueue('a');
  await service.stop();
  expect(target.got).toHaveLength(1);
});

test('a tenant that cannot be listed stands in the way of no other, and what runs for it goes on', async () => {
  const { clock, target, hook, enqueue } = await made({}, (records) => ({
    ...records,
    list: async (query) => {
      if (query.tenant === 'a' && isAway) throw new WaybillError('unavailable', 'The store is away.');
      return records.list(query);
    },
  }));
  let isAway = false;
  await hook({ events: ['job.enqueued'] }, 'a');
  const first = await enqueue('a');
  await target.whenGot(1);
  isAway = true;
  await hook({ events: ['job.enqueued'] }, 'b');
  const others = [await enqueue('b'), await enqueue('a')];
  await expect.poll(() => target.got.length, { timeout: 5_000 }).toBe(3);
  await clock.advance(120_000);
  others.push(await enqueue('a'));
  await expect.poll(() => target.got.length, { timeout: 5_000 }).toBe(4);
  expect(target.got.map(({ event }) => event.subject).sort()).toEqual([first, ...others].sort());
});

test('neither the secret nor the address is in the log, the events, the state or an answer', async () => {
  const { waybill, clock, service, target, log, hook, enqueue, whenFailed } = await made();
  target.answer = (response) => response.destroy();
  await hook();
  await enqueue();
  await whenFailed;
  const answer = await service.test('', 'w');
  target.answer = (response) => response.writeHead(410).end();
  await clock.advance(2_000);
  await target.whenGot(3);
  await service.stop();
  const { events } = await waybill.events.read({ limit: 1_000 });
  const shown = JSON.stringify([log, events, answer, await service.state('', 'w')], (_, value: unknown) =>
    value instanceof Error ? [value.message, value.stack] : value,
  );
  expect([answer.ok, events.at(-1)!.type]).toEqual([false, 'webhook.paused']);
  expect(shown).not.toContain(SECRET);
  expect(shown).not.toContain(TOKEN);
});
