import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

test('a sane request id is echoed, any other is replaced', async () => {
  const { get } = harness();
  const idFor = async (sent: string) =>
    (await get('/ojs/manifest', { 'X-Request-Id': sent })).headers.get('x-request-id');
  expect(await idFor('req-42')).toBe('req-42');
  expect(await idFor('x'.repeat(128))).toBe('x'.repeat(128));
  for (const insane of ['', 'x'.repeat(129), 'a b', 'caf\u00e9'])
    expect(await idFor(insane)).toMatch(/^req_[0-9a-f-]{36}$/);
});

test('a refusal carries the id of its request', async () => {
  const { get } = harness();
  const { body } = await get('/ojs/v1/jobs/nonsense', { 'X-Request-Id': 'req-42' });
  expect(body.error.request_id).toBe('req-42');
});

test('version 1 of the specification is spoken, others are not', async () => {
  const { get } = harness();
  for (const version of ['1', '1.0', '1.7', '1.0.0-rc.1']) {
    expect((await get('/ojs/manifest', { 'OJS-Version': version })).status).toBe(200);
  }
  for (const version of ['2.0', '0.9', '10', 'one', '']) {
    const { status, body } = await get('/ojs/manifest', { 'OJS-Version': version });
    expect([version, status, body.error.code]).toEqual([version, 422, 'unsupported']);
  }
});

test('an unknown path is not found; a known one under another method says which methods it has', async () => {
  const { get, post, raw } = harness();
  for (const path of [
    '/',
    '/ojs',
    '/ojs/v2/jobs',
    '/ojs/v1/jobs/',
    '/ojs/v1/jobs/a/b/c',
    '/ojs/v1/nope',
    '/%E0%A4%A',
    '//',
  ]) {
    const { status, body } = await get(path);
    expect([path, status, body.error.code]).toEqual([path, 404, 'not_found']);
  }
  for (const [method, path, allow] of [
    ['PUT', '/ojs/v1/jobs', 'GET, HEAD, POST'],
    ['DELETE', '/ojs/v1/workers/ack', 'POST'],
    ['GET', '/ojs/v1/workers/ack', 'POST'],
    ['PATCH', '/ojs/v1/jobs/some-id', 'DELETE, GET, HEAD'],
    ['OPTIONS', '/ojs/manifest', 'GET, HEAD'],
  ] as const) {
    const { status, headers, body } = await raw(method, path);
    expect([path, status, headers.get('allow'), body.error.code]).toEqual([path, 405, allow, 'invalid_request']);
  }
  expect((await post('/ojs/v1/queues', {})).status).toBe(405);
});

test('HEAD answers like GET without a body, also where GET would stream', async () => {
  const { app } = harness();
  for (const path of ['/ojs/manifest', '/ojs/v1/events']) {
    const response = await app.request(path, { method: 'HEAD', headers: { Accept: 'text/event-stream' } });
    expect([response.status, await response.text()]).toEqual([200, '']);
  }
});

test('what we did not foresee is logged, answered as internal and tells nothing', async () => {
  for (const thrown of [new TypeError('secret'), 'secret', undefined, new WaybillError('internal', 'secret')]) {
    const { waybill, get, log } = harness();
    waybill.queues.list = () => Promise.reject(thrown);
    const { status, body } = await get('/ojs/v1/queues', { 'X-Request-Id': 'req-42' });
    expect([status, body.error.code, body.error.retryable]).toEqual([500, 'internal', false]);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(log).toMatchObject([
      { level: 'error', fields: { request_id: 'req-42', method: 'GET', path: '/ojs/v1/queues' } },
    ]);
    expect((await get('/ojs/manifest')).status).toBe(200);
  }
});

test('a refusal that will pass says when to try again', async () => {
  const { waybill, get } = harness();
  waybill.queues.list = () => Promise.reject(new WaybillError('unavailable', 'The store is away.'));
  const { status, headers, body } = await get('/ojs/v1/queues');
  expect([status, body.error.retryable, headers.get('retry-after')]).toEqual([503, true, '1']);
});

test('bodies never reach the log', async () => {
  const { waybill, post, log } = harness();
  waybill.jobs.enqueue = () => Promise.reject(new Error('insert failed'));
  await post('/ojs/v1/jobs', { type: 'a.b', args: ['hunter2'] });
  await post('/ojs/v1/jobs', { type: 42, args: ['hunter2'] });
  expect(log).toHaveLength(2);
  expect(JSON.stringify(log)).not.toContain('hunter2');
});
