import { expect, test } from 'vitest';
import { WaybillError } from '../errors.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { testEngine } from '../testing/test-engine.ts';
import { checkHealth } from './health.ts';

test('a store that answers is healthy; one that does not is an answer, not an exception', async () => {
  const { waybill } = testEngine({ faults: [{ method: 'ping', call: 2, when: 'before' }] });
  expect(await waybill.health()).toMatchObject({ status: 'ok', store: { name: 'memory', status: 'ok' } });
  expect(await waybill.health()).toMatchObject({ status: 'degraded', store: { status: 'unhealthy' } });
});

test('what carries the hints is asked too, and what is wrong is told where it was worded for others', async () => {
  const { store } = testEngine();
  const transport = { ...memoryTransport({ clock: store.clock }), ping: async () => {} };
  expect(await checkHealth(store, transport)).toMatchObject({ status: 'ok', transport: { status: 'ok' } });
  const refuse = (error: Error) => checkHealth(store, { ...transport, ping: () => Promise.reject(error) });
  expect(await refuse(new WaybillError('unavailable', 'The queue is gone.'))).toMatchObject({
    ...{ status: 'degraded', store: { status: 'ok' } },
    transport: { status: 'unhealthy', reason: 'The queue is gone.' },
  });
  expect((await refuse(new Error('secret'))).transport).not.toHaveProperty('reason');
});
