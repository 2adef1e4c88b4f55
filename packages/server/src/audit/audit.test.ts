import { engine, silentLogger } from '@waybill/core';
import { type Fault, faultyStore, memoryStore, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import type { Asking, Identify } from '../http/port.ts';
import { harness } from '../testing/harness.ts';

const PRINCIPALS = {
  ada: { id: 'ada', tenant: 'a', scopes: ['admin'] },
  bob: { id: 'bob', tenant: 'b', scopes: ['admin'] },
  eve: { id: 'eve', tenant: 'a', scopes: ['read', 'work', 'enqueue', 'metrics'] },
  few: { id: 'few', tenant: 'a', scopes: ['admin'], queues: ['mail'] },
  op: { id: 'op', tenant: '*', scopes: ['admin'] },
  nameless: { id: '', tenant: 'a', scopes: ['admin'] },
} as const;
type Name = keyof typeof PRINCIPALS;

const principal: Identify = (asking: Asking) => PRINCIPALS[asking.header('Authorization') as Name];
const as = (name: Name, more: Record<string, string> = {}) => ({ Authorization: name, ...more });

test('every administrative request is there with its caller, outcome and request', async () => {
  const { post, put, get, delete: remove } = harness({ principal });
  await post('/ojs/v1/queues/mail/pause', undefined, as('ada', { 'X-Request-Id': 'r1' }));
  await post('/ojs/v1/queues/mail/resume', undefined, as('eve', { 'X-Request-Id': 'r2' }));
  await remove('/ojs/v1/cron/gone', as('op', { 'X-OJS-Tenant': 'a', 'X-Request-Id': 'r3' }));
  await put('/ojs/v1/rate-limits/api', { concurrency: 1 }, as('nameless'));
  await post('/ojs/v1/jobs', { type: 'test.job', args: ['planted'] }, as('ada'));
  await post('/ojs/v1/queues/mail/pause', undefined, as('bob'));
  const { status, body } = await get('/waybill/v1/audit', as('ada'));
  expect([status, body]).toMatchObject([
    200,
    {
      audit: [
        { principal: 'ada', action: 'queues.pause', target: 'mail', outcome: 'ok', request_id: 'r1' },
        { principal: 'eve', action: 'queues.resume', target: 'mail', outcome: 'forbidden', request_id: 'r2' },
        { principal: 'op', action: 'crons.remove', target: 'gone', outcome: 'not_found', request_id: 'r3' },
      ],
      has_more: false,
    },
  ]);
  expect(JSON.stringify(body)).not.toContain('planted');
});

test('is for admins of the tenant alone, and refuses what it does not know', async () => {
  const { get, post } = harness({ principal });
  await post('/ojs/v1/queues/mail/pause', undefined, as('ada'));
  for (const name of ['eve', 'few'] as const) expect((await get('/waybill/v1/audit', as(name))).status).toBe(403);
  expect((await get('/ojs/v1/events?types=audit.recorded', as('eve'))).status).toBe(403);
  expect((await get('/ojs/v1/events', as('eve'))).body.events).toMatchObject([{ type: 'queue.paused' }]);
  expect((await get('/waybill/v1/audit', as('bob'))).body.audit).toEqual([]);
  expect((await get('/waybill/v1/audit?sinse=x', as('ada'))).body.error.details).toMatchObject({ field: 'sinse' });
  expect((await get('/waybill/v1/audit?since=soon', as('ada'))).status).toBe(400);
  expect((await get('/waybill/v1/audit?cursor=none', as('ada'))).status).toBe(400);
});

test('is read by caller and action, and page by page behind a cursor that also goes on from the end', async () => {
  const { get, post } = harness({ principal });
  for (const verb of ['pause', 'resume', 'pause']) await post(`/ojs/v1/queues/mail/${verb}`, undefined, as('ada'));
  const read = async (query: string) => (await get(`/waybill/v1/audit?${query}`, as('ada'))).body;
  expect((await read('action=queues.resume')).audit).toHaveLength(1);
  expect((await read('action=crons.')).audit).toEqual([]);
  expect((await read('principal=eve')).audit).toEqual([]);
  const first = await read('limit=2');
  expect([first.audit.length, first.has_more]).toEqual([2, true]);
  const second = await read(`limit=2&cursor=${encodeURIComponent(first.cursor)}`);
  expect([second.audit.length, second.has_more]).toEqual([1, false]);
  await post('/ojs/v1/queues/mail/resume', undefined, as('ada'));
  expect((await read(`cursor=${encodeURIComponent(second.cursor)}`)).audit).toMatchObject([
    { action: 'queues.resume' },
  ]);
});

// fault: the store refuses to write the entry
test('an entry that cannot be written is logged and counted, and the call is answered', async () => {
  const clock = new TestClock();
  const plan: Fault[] = [1, 2].map((call) => ({ method: 'events.tell', call, when: 'before' }));
  const store = faultyStore(memoryStore({ clock }), plan);
  const waybill = engine({ store, maintenance: false, logger: silentLogger });
  const { post, get, log } = harness({ principal, waybill, clock });
  for (const lost of [1, 2]) {
    expect((await post('/ojs/v1/queues/mail/pause', undefined, as('ada'))).status).toBe(200);
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(lost);
    expect(log.at(-1)!.fields).toMatchObject({ principal: 'ada', action: 'queues.pause', outcome: 'ok', lost });
  }
  expect((await get('/waybill/v1/audit', as('ada'))).body.audit).toEqual([]);
});
