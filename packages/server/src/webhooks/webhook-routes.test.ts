import type { SinkState } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import type { RedeliverFrom, WebhookService } from './service.ts';

const LIST = '/waybill/v1/webhooks';
const AT = Date.UTC(2030, 0, 1);
const IDLE: SinkState = {
  ...{ cursor: null, delivered: 0, failingSince: null, failingMs: 0, failures: 0, lastError: null, lastErrorAt: null },
  ...{ nextTryAt: null, parked: [], missed: false, status: 'active', pausedReason: null },
};

/** Stands for what delivers, where only its answers matter. The real one is tested where it is, and from the command. */
function withState(state: SinkState | null) {
  const calls: [string, string, string, RedeliverFrom?][] = [];
  const service: WebhookService = {
    ...{ start: () => {}, stop: async () => {}, checkUrl: () => {} },
    state: async () => state,
    test: async (tenant, id) => {
      calls.push(['test', tenant, id]);
      return { ok: false, status: 500, error: 'The receiver answered 500.', ms: 12 };
    },
    redeliver: async (tenant, id, from) => void calls.push(['redeliver', tenant, id, from]),
    pause: async (tenant, id) => void calls.push(['pause', tenant, id]),
    resume: async (tenant, id) => void calls.push(['resume', tenant, id]),
  };
  const server = harness({ webhooks: service });
  return { server, calls };
}

async function shown(state: SinkState | null) {
  const { server } = withState(state);
  await server.put(`${LIST}/mine`, { url: 'https://example.com/' });
  return { server, get: async () => (await server.get(`${LIST}/mine`)).body.webhook.state };
}

test('a webhook that was not looked at yet is active', async () => {
  expect(await (await shown(null)).get()).toEqual({ status: 'active', delivered: 0, failures: 0 });
});

test('a failing one says since when, why, and when it is tried again', async () => {
  const state = { ...IDLE, delivered: 7, failingSince: AT, failures: 3, lastError: 'refused', nextTryAt: AT + 60_000 };
  expect(await (await shown(state)).get()).toEqual({
    ...{ status: 'failing', delivered: 7, failures: 3, last_error: 'refused', lag_ms: 0 },
    ...{ failing_since: '2030-01-01T00:00:00.000Z', next_try_at: '2030-01-01T00:01:00.000Z' },
  });
});

test('one that the server has paused says why, and when it is not tried again', async () => {
  const state: SinkState = { ...IDLE, status: 'paused', pausedReason: 'It has failed for 24 hours.', nextTryAt: AT };
  expect(await (await shown(state)).get()).toMatchObject({
    ...{ status: 'paused', paused_reason: 'It has failed for 24 hours.' },
  });
});

test('the lag is the age of the oldest event that it would get', async () => {
  const { server, get } = await shown(IDLE);
  expect(await get()).toMatchObject({ lag_ms: 0 });
  await server.post('/ojs/v1/queues/mail/pause');
  await server.clock.advance(5_000);
  expect(await get()).toMatchObject({ lag_ms: 0 });
  await server.enqueued();
  await server.clock.advance(7_000);
  expect(await get()).toMatchObject({ lag_ms: 7_000 });
  expect((await server.get(LIST)).body.webhooks[0].state).not.toHaveProperty('lag_ms');
});

test('events of types that it does not get are no lag, whatever it gets', async () => {
  const { server } = withState(IDLE);
  await server.put(`${LIST}/mine`, { url: 'https://example.com/', events: ['webhook.paused', 'queue.*'] });
  await server.enqueued();
  await server.clock.advance(5_000);
  const lag = async () => (await server.get(`${LIST}/mine`)).body.webhook.state.lag_ms;
  expect(await lag()).toBe(0);
  await server.post('/ojs/v1/queues/mail/pause');
  await server.clock.advance(2_000);
  expect(await lag()).toBe(2_000);
});

test('events of other types of jobs are no lag', async () => {
  const { server } = withState(IDLE);
  await server.put(`${LIST}/mine`, { url: 'https://example.com/', job_types: ['mail.send'] });
  const lag = async () => (await server.get(`${LIST}/mine`)).body.webhook.state.lag_ms;
  await server.enqueued();
  await server.clock.advance(5_000);
  expect(await lag()).toBe(0);
  await server.post('/ojs/v1/jobs', { type: 'mail.send', args: [] });
  await server.clock.advance(3_000);
  expect(await lag()).toBe(3_000);
});

test('tests, redeliveries, pauses and resumptions reach what delivers, in the tenant of the caller', async () => {
  const { server, calls } = withState(IDLE);
  const acme = { 'X-OJS-Tenant': 'acme' };
  const one = `${LIST}/mine`;
  await server.put(one, { url: 'https://example.com/' }, acme);
  const tested = await server.post(`${one}/test`, undefined, acme);
  expect(tested.body.test).toEqual({ ok: false, status: 500, error: 'The receiver answered 500.', ms: 12 });
  for (const body of [{ since: '2030-01-01T00:00:00Z' }, { after: 'c' }, { event_id: 'evt_1' }])
    expect((await server.post(`${one}/redeliver`, body, acme)).status).toBe(200);
  await server.post(`${one}/pause`, undefined, acme);
  expect(calls).toEqual([
    ['test', 'acme', 'mine'],
    ['redeliver', 'acme', 'mine', { since: AT }],
    ['redeliver', 'acme', 'mine', { after: 'c' }],
    ['redeliver', 'acme', 'mine', { eventId: 'evt_1' }],
    ['pause', 'acme', 'mine'],
  ]);
});

test('pausing what is paused, and resuming what is well, asks nothing of what delivers', async () => {
  const { server, calls } = withState(IDLE);
  await server.put(`${LIST}/mine`, { url: 'https://example.com/', paused: true });
  await server.post(`${LIST}/mine/pause`);
  await server.put(`${LIST}/well`, { url: 'https://example.com/' });
  await server.post(`${LIST}/well/resume`);
  expect(calls).toEqual([]);
});

test('one that fails, or that the server has paused, can be resumed', async () => {
  for (const state of [
    { ...IDLE, failingSince: AT, failures: 1 },
    { ...IDLE, status: 'paused' as const },
  ]) {
    const { server, calls } = withState(state);
    await server.put(`${LIST}/mine`, { url: 'https://example.com/' });
    await server.post(`${LIST}/mine/resume`);
    expect(calls).toEqual([['resume', '', 'mine']]);
  }
});

test.each([{}, { since: '2030-01-01T00:00:00Z', after: 'c' }, { since: 'yesterday' }, { sinse: 'x' }, { event_id: 1 }])(
  'redelivery refuses %j',
  async (body) => {
    const { server, calls } = withState(IDLE);
    await server.put(`${LIST}/mine`, { url: 'https://example.com/' });
    expect((await server.post(`${LIST}/mine/redeliver`, body)).status).toBe(400);
    expect(calls).toEqual([]);
  },
);
