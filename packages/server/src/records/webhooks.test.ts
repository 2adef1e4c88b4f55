import { expect, test } from 'vitest';
import { type Answer, type Harness, harness } from '../testing/harness.ts';

const LIST = '/waybill/v1/webhooks';
const URL = 'https://example.com/hooks/token-in-the-path?key=token-in-the-query';
const GIVEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const eventsOf = async ({ get }: Harness) =>
  (
    await get(
      '/ojs/v1/events?types=webhook.created,webhook.changed,webhook.rotated,webhook.paused,webhook.resumed,webhook.removed',
    )
  ).body.events as { type: string; subject: string; data: object }[];

async function created({ post }: Harness, body: object = {}): Promise<{ id: string; secret: string; answer: Answer }> {
  const answer = await post(LIST, { url: URL, ...body });
  expect(answer.status).toBe(201);
  return { id: answer.body.webhook.id, secret: answer.body.secret, answer };
}

test('a webhook is created under a new id, and its secret is shown once', async () => {
  const server = harness();
  const { id, secret, answer } = await created(server);
  expect(id).toMatch(/^wh_[0-9a-f]{16}$/);
  expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
  expect(answer.body.webhook).toMatchObject({
    url: URL,
    events: ['job.*'],
    paused: false,
    state: { status: 'active' },
  });
  const shown = [
    await server.get(`${LIST}/${id}`),
    await server.get(LIST),
    await server.put(`${LIST}/${id}`, { url: URL }),
  ];
  expect(shown.map(({ status }) => status)).toEqual([200, 200, 200]);
  shown.push(await server.delete(`${LIST}/${id}`));
  expect(JSON.stringify(shown.map(({ body }) => body))).not.toContain(secret.slice(6));
  expect((await server.get(`${LIST}/${id}`)).status).toBe(404);
  expect(JSON.stringify(server.log)).not.toContain(secret.slice(6));
});

test('a webhook under a chosen id, with a secret of the caller; the same call again changes nothing of it', async () => {
  const server = harness();
  const first = await server.put(`${LIST}/mine`, { url: URL, secret: GIVEN });
  expect([first.status, first.body.secret]).toEqual([201, GIVEN]);
  const again = await server.put(`${LIST}/mine`, { url: URL, secret: GIVEN, events: ['queue.*'] });
  expect([again.status, again.body.secret, again.body.webhook.events]).toEqual([200, undefined, ['queue.*']]);
  const other = await server.put(`${LIST}/mine`, { url: URL, secret: GIVEN.replace('MfKQ', 'AAAA') });
  expect([other.status, other.body.error.message]).toEqual([400, expect.stringContaining('rotate-secret')]);
  const paused = await server.put(`${LIST}/mine`, { url: URL, paused: true });
  expect([paused.status, paused.body.error.message]).toEqual([400, expect.stringContaining('POST ../pause')]);
  const stored = await server.waybill.records!.get('webhook', 'mine');
  expect(stored.value['secrets']).toEqual([{ secret: GIVEN }]);
});

test('the log tells of every change, and neither secret, path nor query', async () => {
  const server = harness();
  const { id, secret } = await created(server);
  const rotated = await server.post(`${LIST}/${id}/rotate-secret`);
  await server.post(`${LIST}/${id}/pause`);
  await server.post(`${LIST}/${id}/pause`);
  await server.post(`${LIST}/${id}/resume`);
  await server.put(`${LIST}/${id}`, { url: URL, description: 'for the shop' });
  await server.delete(`${LIST}/${id}`);
  const events = await eventsOf(server);
  expect(events.map(({ type, subject }) => [type, subject])).toEqual(
    ['created', 'rotated', 'paused', 'resumed', 'changed', 'removed'].map((fact) => [`webhook.${fact}`, id]),
  );
  expect(events[0]!.data).toMatchObject({ target: 'https://example.com', events: ['job.*'] });
  const text = JSON.stringify(events);
  for (const hidden of [secret.slice(6), rotated.body.secret.slice(6), 'token-in']) expect(text).not.toContain(hidden);
});

test('a new secret comes first, and the old one counts until its time is over', async () => {
  const server = harness();
  const { id, secret } = await created(server);
  const secrets = async () => (await server.waybill.records!.get('webhook', id)).value['secrets'];
  const day = 24 * 3_600_000;
  const { body } = await server.post(`${LIST}/${id}/rotate-secret`);
  expect(body.secret).not.toBe(secret);
  const now = server.clock.now();
  expect(await secrets()).toEqual([{ secret: body.secret }, { secret, until: now + day }]);
  await server.clock.advance(day);
  const third = (await server.post(`${LIST}/${id}/rotate-secret`, { keep_old_ms: 1_000 })).body.secret;
  expect(await secrets()).toEqual([{ secret: third }, { secret: body.secret, until: now + day + 1_000 }]);
  await server.post(`${LIST}/${id}/rotate-secret`, { keep_old_ms: 0, secret: GIVEN });
  expect(await secrets()).toEqual([{ secret: GIVEN }]);
});

test.each<[string, object, string]>([
  ['no url', {}, 'url'],
  ['what is no address', { url: 'example.com/hooks' }, 'url'],
  ['another protocol', { url: 'ftp://example.com/' }, 'url'],
  ['a password', { url: 'https://me:word@example.com/' }, 'url'],
  ['a fragment', { url: 'https://example.com/#here' }, 'url'],
  ['plain HTTP', { url: 'http://example.com/' }, 'url'],
  ['this machine', { url: 'https://127.0.0.1/' }, 'url'],
  ['this machine by another form', { url: 'https://0x7f.1/' }, 'url'],
  ['this machine by name', { url: 'https://localhost:8080/' }, 'url'],
  ['a private network', { url: 'https://10.1.2.3/' }, 'url'],
  ['the metadata of a cloud', { url: 'https://169.254.169.254/latest' }, 'url'],
  ['IPv4 within IPv6', { url: 'https://[::ffff:127.0.0.1]/' }, 'url'],
  ['a unique local address', { url: 'https://[fd00::1]/' }, 'url'],
  ['a url that is too long', { url: `https://example.com/${'x'.repeat(2_048)}` }, 'url'],
  ['an unknown event', { url: URL, events: ['job.complete'] }, 'events[0]'],
  ['an unknown kind', { url: URL, events: ['job.*', 'jobs.*'] }, 'events[1]'],
  ['no events', { url: URL, events: [] }, 'events'],
  ['no queues', { url: URL, queues: [] }, 'queues'],
  ['a bad queue', { url: URL, queues: ['A b'] }, 'queues[0]'],
  ['a bad type', { url: URL, job_types: ['A b'] }, 'job_types[0]'],
  ['a short secret', { url: URL, secret: 'whsec_c2hvcnQ=' }, 'secret'],
  ['a secret of another form', { url: URL, secret: 'hunter2' }, 'secret'],
  ['a misspelt field', { url: URL, event: ['job.*'] }, 'event'],
  ['fields of the server', { url: URL, secrets: [] }, 'secrets'],
])('refuses %s by its field, quotes nothing of it, and changes nothing', async (_, body, field) => {
  const server = harness();
  const { status, body: answer } = await server.post(LIST, body);
  expect([status, answer.error.details.field]).toEqual([400, field]);
  expect(JSON.stringify(answer)).not.toMatch(/me:word|hunter2|c2hvcnQ|token-in|169\.254/);
  expect((await server.get(LIST)).body.webhooks).toEqual([]);
  expect(await eventsOf(server)).toEqual([]);
});

test('what was meant is proposed', async () => {
  const { body } = await harness().post(LIST, { url: URL, events: ['job.complete'] });
  expect(body.error.message).toContain("Did you mean 'job.completed'?");
});

test('a caller who has read an older version is refused', async () => {
  const server = harness();
  const { id, answer } = await created(server);
  const seen = { 'If-Match': answer.headers.get('ETag')! };
  expect((await server.post(`${LIST}/${id}/pause`, undefined, seen)).status).toBe(200);
  expect((await server.post(`${LIST}/${id}/rotate-secret`, undefined, seen)).status).toBe(409);
});

test('a tenant may have a hundred, and no more', async () => {
  const server = harness();
  for (let count = 0; count < 100; count += 1) await created(server);
  for (const answer of [await server.post(LIST, { url: URL }), await server.put(`${LIST}/mine`, { url: URL })])
    expect([answer.status, answer.body.error.hint]).toEqual([409, expect.stringContaining('Remove a webhook')]);
  expect((await server.post(LIST, { url: URL }, { 'X-OJS-Tenant': 'acme' })).status).toBe(201);
});

test('only admins of the tenant who are not narrowed may look at webhooks or change them', async () => {
  const KEYS = {
    admin: { id: 'admin', tenant: 'acme', scopes: ['admin'] },
    other: { id: 'other', tenant: 'beta', scopes: ['admin'] },
    narrow: { id: 'narrow', tenant: 'acme', scopes: ['admin'], queues: ['mail'] },
    reader: { id: 'reader', tenant: 'acme', scopes: ['read', 'work', 'enqueue'] },
    operator: { id: 'operator', tenant: '*', scopes: ['admin'] },
  } as const;
  const server = harness({ principal: (asking) => KEYS[asking.header('Authorization') as keyof typeof KEYS] });
  const as = (Authorization: keyof typeof KEYS) => ({ Authorization });
  const { body } = await server.post(LIST, { url: URL }, as('admin'));
  const { id } = body.webhook;
  const calls = [
    ...[(who: object) => server.get(LIST, { ...who }), (who: object) => server.get(`${LIST}/${id}`, { ...who })],
    ...['pause', 'resume', 'rotate-secret', 'test'].map(
      (verb) => (who: object) => server.post(`${LIST}/${id}/${verb}`, undefined, { ...who }),
    ),
    (who: object) => server.post(`${LIST}/${id}/redeliver`, { after: 'x' }, { ...who }),
    (who: object) => server.put(`${LIST}/${id}`, { url: URL }, { ...who }),
    (who: object) => server.post(LIST, { url: URL }, { ...who }),
    (who: object) => server.delete(`${LIST}/${id}`, { ...who }),
  ];
  for (const who of ['narrow', 'reader'] as const)
    for (const call of calls) expect((await call(as(who))).status).toBe(403);
  expect((await server.get(LIST, as('other'))).body.webhooks).toEqual([]);
  expect((await server.post(`${LIST}/${id}/rotate-secret`, undefined, as('other'))).status).toBe(404);
  const named = { ...as('operator'), 'X-OJS-Tenant': 'acme' };
  expect((await server.get(`${LIST}/${id}`, named)).body.webhook.id).toBe(id);
  expect((await server.get(`${LIST}/${id}`, as('operator'))).status).toBe(404);
});

test('without what delivers, tests and redeliveries are refused with what to do', async () => {
  const server = harness();
  const { id } = await created(server);
  for (const [verb, body] of [['test'], ['redeliver', { after: 'x' }]] as const) {
    const { status, body: answer } = await server.post(`${LIST}/${id}/${verb}`, body);
    expect([status, answer.error.hint]).toEqual([422, expect.stringContaining('waybill serve')]);
  }
});
