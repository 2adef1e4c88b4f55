import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { BAD_FIELDS, BAD_RETRY_FIELDS, BAD_SCHEDULE_FIELDS, GOOD_CRON, withField } from './testing/bad-fields.ts';
import { type Harness, harness, MEDIA_TYPE } from './testing/harness.ts';

const ID = '019539a4-0000-7000-8000-000000000000';
const JSON_HEADERS = { 'Content-Type': MEDIA_TYPE };
const POSTS = [
  '/ojs/v1/jobs',
  '/ojs/v1/jobs/batch',
  '/ojs/v1/workers/fetch',
  '/ojs/v1/workers/ack',
  '/ojs/v1/workers/nack',
  '/ojs/v1/workers/heartbeat',
  '/ojs/v1/workers/w/directive',
  `/ojs/v1/jobs/${ID}/journal`,
  '/ojs/v1/dead-letter/retry',
  '/ojs/v1/cron',
  '/ojs/v1/workflows',
  `/ojs/v1/workflows/${ID}/nodes`,
  ...['signal', 'approve', 'request-revision'].map((verb) => `/ojs/v1/workflows/${ID}/${verb}`),
  '/waybill/v1/keys',
  '/waybill/v1/webhooks',
  '/waybill/v1/webhooks/mine/redeliver',
  '/waybill/v1/questions',
  `/waybill/v1/questions/${ID}.0123456789ab/answer`,
  '/tasks/jobs',
  `/tasks/jobs/job-${ID}/tasks`,
  `/tasks/jobs/job-${ID}/tasks/a/request-revision`,
];
const PUTS = [
  '/ojs/v1/queues/default/limit',
  '/ojs/v1/rate-limits/api',
  '/waybill/v1/webhooks/mine',
  '/tasks/task-definitions/a',
];
const WITH_OPTIONAL_BODY = [
  `/ojs/v1/jobs/${ID}/activate`,
  `/ojs/v1/dead-letter/${ID}/retry`,
  `/ojs/v1/workflows/${ID}/resume`,
  '/ojs/v1/cron/a/pause',
  '/ojs/v1/cron/a/resume',
  '/ojs/v1/queues/default/pause',
  '/ojs/v1/queues/default/resume',
  '/waybill/v1/keys/abcdefghjkmn/rotate',
  ...['pause', 'resume', 'rotate-secret', 'test'].map((verb) => `/waybill/v1/webhooks/mine/${verb}`),
  ...['cancel', 'resume', 'tasks/a/retry', 'tasks/a/approve'].map((verb) => `/tasks/jobs/job-${ID}/${verb}`),
];

/** Sends something bad and holds the server to the status, the code and an unchanged store. */
async function refused(
  server: Harness,
  what: string,
  call: () => ReturnType<Harness['raw']>,
  status: number,
  code: string,
) {
  const before = await server.stored();
  const { body, ...answer } = await call();
  expect([what, answer.status, body.error.code, body.error.retryable]).toEqual([what, status, code, false]);
  expect(await server.stored()).toBe(before);
}

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const BAD_TEXTS: [what: string, text: string | Uint8Array<ArrayBuffer>, code: string][] = [
  ['no body', '', 'invalid_payload'],
  ['broken JSON', '{ invalid json }', 'invalid_payload'],
  ['half a body', '{"type":"a.b","args":[', 'invalid_payload'],
  ['bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_payload'],
  ['a proto key', '{"type":"a.b","args":[],"__proto__":{"state":"x"}}', 'invalid_payload'],
  ['an escaped proto key', '{"type":"a.b","args":[{"\\u005f\\u005fproto__":1}]}', 'invalid_payload'],
  ['JSON of depth 101', `{"type":"a.b","args":${deep(101)}}`, 'invalid_payload'],
  ['JSON of depth 10,000', `{"type":"a.b","args":${deep(10_000)}}`, 'invalid_payload'],
  ['JSON of depth 500,000', deep(500_000), 'invalid_payload'],
  ['an array', '[]', 'invalid_request'],
  ['a string', '"job"', 'invalid_request'],
  ['a number', '1', 'invalid_request'],
  ['null', 'null', 'invalid_request'],
];

const WITH_BODY = [...POSTS.map((path) => ['POST', path] as const), ...PUTS.map((path) => ['PUT', path] as const)];

test.each(WITH_BODY)('%s %s refuses every body that is no JSON object', async (method, path) => {
  const server = harness();
  for (const [what, body, code] of BAD_TEXTS) {
    await refused(server, what, () => server.raw(method, path, { headers: JSON_HEADERS, body }), 400, code);
  }
});

test.each(WITH_OPTIONAL_BODY)('%s refuses a bad body although it needs none', async (path) => {
  const server = harness();
  for (const [what, body, code] of BAD_TEXTS.filter(([name]) => name !== 'no body' && name !== 'null')) {
    await refused(server, what, () => server.raw('POST', path, { headers: JSON_HEADERS, body }), 400, code);
  }
});

test('the media type must be one of two, with or without parameters', async () => {
  const server = harness();
  const body = JSON.stringify({ type: 'a.b', args: [] });
  for (const type of [
    'text/plain',
    'text/json',
    'application/xml',
    'application/jsonp',
    'multipart/form-data',
    'nonsense',
  ]) {
    const call = () => server.raw('POST', '/ojs/v1/jobs', { headers: { 'Content-Type': type }, body });
    await refused(server, type, call, 400, 'invalid_request');
  }
  const untyped = () => server.raw('POST', '/ojs/v1/jobs', { body: new TextEncoder().encode(body) });
  await refused(server, 'no type', untyped, 400, 'invalid_request');
  for (const type of [MEDIA_TYPE, 'application/json', 'Application/JSON; charset=utf-8', `${MEDIA_TYPE};v=1`]) {
    expect((await server.raw('POST', '/ojs/v1/jobs', { headers: { 'Content-Type': type }, body })).status).toBe(201);
  }
});

test('a body over the limit is refused, announced or not, and not read to its end', async () => {
  const server = harness();
  const large = `{"type":"a.b","args":["${'x'.repeat(5 * 1024 * 1024)}"]}`;
  const send = (headers: Record<string, string>, body: string | ReadableStream) =>
    server.raw('POST', '/ojs/v1/jobs', { headers: { ...JSON_HEADERS, ...headers }, body, duplex: 'half' });
  await refused(server, '5 MB', () => send({}, large), 413, 'payload_too_large');
  await refused(
    server,
    'announced',
    () => send({ 'Content-Length': String(large.length) }, large),
    413,
    'payload_too_large',
  );
  await refused(server, 'announced too small', () => send({ 'Content-Length': '10' }, large), 413, 'payload_too_large');
  let pulled = 0;
  const endless = new ReadableStream({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new Uint8Array(64 * 1024));
    },
  });
  await refused(server, 'endless', () => send({}, endless), 413, 'payload_too_large');
  expect(pulled).toBeLessThan(25);
});

test('the limit is a limit in bytes and includes its own length', async () => {
  const server = harness({ maxBodyBytes: 64 });
  const fill = (length: number) => `{"type":"a.b","args":["${'x'.repeat(length - 26)}"]}`;
  const send = (body: string) => server.raw('POST', '/ojs/v1/jobs', { headers: JSON_HEADERS, body });
  expect(fill(64)).toHaveLength(64);
  expect((await send(fill(64))).status).toBe(201);
  await refused(server, '65 bytes', () => send(fill(65)), 413, 'payload_too_large');
});

const JOB = { type: 'a.b', args: [] };

test.each(BAD_FIELDS)('$path checks every field', async ({ method = 'post', path, good, bad }) => {
  const server = harness();
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) {
      const what = `${field}: ${JSON.stringify(value)?.slice(0, 80)}`;
      await refused(server, what, () => server[method](path, withField(good, field, value)), 400, 'invalid_request');
    }
  }
});

test('every field of a retry policy is checked', async () => {
  const server = harness();
  // What was found good once is remembered, and must not stand for what looks alike.
  expect((await server.post('/ojs/v1/jobs', withField(JOB, 'options.retry', {}))).status).toBe(201);
  for (const [field, values] of Object.entries(BAD_RETRY_FIELDS)) {
    for (const value of values) {
      const what = `${field}: ${JSON.stringify(value)}`;
      const body = withField(JOB, field, value);
      await refused(server, what, () => server.post('/ojs/v1/jobs', body), 422, 'validation_error');
    }
  }
});

test('schedules that mean nothing or never fire are refused', async () => {
  const server = harness();
  for (const [field, values] of Object.entries(BAD_SCHEDULE_FIELDS)) {
    for (const value of values) {
      const body = withField(GOOD_CRON, field, value);
      await refused(server, `${field}: ${value}`, () => server.post('/ojs/v1/cron', body), 422, 'validation_error');
    }
  }
});

test('a limit that would drop or move jobs is not supported', async () => {
  const server = harness();
  for (const on_limit of ['drop', 'reschedule']) {
    const body = { ...JOB, options: { rate_limit: { concurrency: 1, on_limit } } };
    await refused(server, on_limit, () => server.post('/ojs/v1/jobs', body), 422, 'unsupported');
  }
});

test('nodes that cannot join a workflow are refused, and it stays as it is', async () => {
  const server = harness();
  const { workflow } = (await server.post('/ojs/v1/workflows', { nodes: [{ id: 'a', ...JOB }] })).body;
  const node = (id: string, ...depends_on: string[]) => ({ id, depends_on, ...JOB });
  const bad = [
    undefined,
    {},
    [],
    [1],
    [{ ...node('a'), args: [2] }],
    [node('b', 'z')],
    [node('b', 'c'), node('c', 'b')],
    [{ id: 'b' }],
  ];
  for (const nodes of bad) {
    const call = () => server.post(`/ojs/v1/workflows/${workflow.id}/nodes`, { nodes });
    await refused(server, JSON.stringify(nodes), call, 400, 'invalid_request');
  }
});

test('text that is no id is a bad request; an id of another kind names nothing', async () => {
  const server = harness();
  const paths = (id: string): [string, string][] => [
    ['GET', `/ojs/v1/jobs/${id}`],
    ['DELETE', `/ojs/v1/jobs/${id}`],
    ['POST', `/ojs/v1/jobs/${id}/activate`],
    ['GET', `/ojs/v1/dead-letter/${id}`],
    ['DELETE', `/ojs/v1/dead-letter/${id}`],
    ['POST', `/ojs/v1/dead-letter/${id}/retry`],
    ['GET', `/ojs/v1/workflows/${id}`],
    ['DELETE', `/ojs/v1/workflows/${id}`],
    ['GET', `/ojs/v1/workflows/${id}/jobs`],
    ['POST', `/ojs/v1/workflows/${id}/resume`],
  ];
  for (const id of ['x', '1', 'null', '..%2f..', '%00', ID.slice(1), `${ID}0`, `${ID}%20`, "'%20OR%201=1--"]) {
    for (const [method, path] of paths(id)) {
      await refused(server, `${method} ${path}`, () => server.raw(method, path), 400, 'invalid_request');
    }
  }
  for (const id of ['550e8400-e29b-41d4-a716-446655440000', ID.toUpperCase(), ID]) {
    for (const [method, path] of paths(id)) {
      await refused(server, `${method} ${path}`, () => server.raw(method, path), 404, 'not_found');
    }
  }
});

test('what is wrong with a query is refused', async () => {
  const server = harness();
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=',
    'limit=-5',
    'limit=99999999999999999999999',
    'cursor=%20',
    'state=odd',
    'queue=A',
    'type=',
    'error_type=',
    'workflow_id=x',
    'dead_letter=yes',
    'created_after=x',
    'finished_before=2030',
    'since=2030-01-01T00:00:00Z',
    'page=2',
  ]) {
    await refused(server, query, () => server.get(`/ojs/v1/jobs?${query}`), 400, 'invalid_request');
  }
  for (const query of [
    'limit=0',
    'queue=A',
    'since=yesterday',
    'until=2030',
    'error_type=',
    'state=discarded',
    'confirm=true',
  ]) {
    await refused(server, query, () => server.get(`/ojs/v1/dead-letter?${query}`), 400, 'invalid_request');
  }
});

test('what is wrong with a query for workflows or with the name of a schedule is refused', async () => {
  const server = harness();
  for (const query of ['limit=0', 'state=odd', 'states=running', 'cursor=%20', 'page=2']) {
    await refused(server, query, () => server.get(`/ojs/v1/workflows?${query}`), 400, 'invalid_request');
  }
  for (const name of ['x'.repeat(256), '%00', 'caf%C3%A9']) {
    await refused(server, name, () => server.get(`/ojs/v1/cron/${name}`), 400, 'invalid_request');
    await refused(server, name, () => server.delete(`/ojs/v1/cron/${name}`), 400, 'invalid_request');
  }
});

test('an idempotency key must be printable and of some length', async () => {
  const server = harness();
  for (const key of ['', 'x'.repeat(256), 'caf\u00e9']) {
    await refused(
      server,
      key,
      () => server.post('/ojs/v1/jobs', JOB, { 'Idempotency-Key': key }),
      400,
      'invalid_request',
    );
  }
});

test('no JSON whatsoever makes the server fail', async () => {
  const server = harness();
  const answered = async (method: 'post' | 'put', path: string, body: unknown) => {
    const { status } = await server[method](path, body);
    expect(status).toBeLessThan(500);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...BAD_FIELDS),
      fc.nat(),
      fc.jsonValue(),
      async ({ method = 'post', path, good, bad }, pick, value) => {
        const fields = Object.keys(bad);
        await answered(method, path, withField(good, fields[pick % fields.length]!, value));
        await answered(method, path, value);
      },
    ),
    { numRuns: 300 },
  );
  expect(server.log).toEqual([]);
});
