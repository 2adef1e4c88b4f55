import { expect, test } from 'vitest';
import { WaybillError } from '../errors.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
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

test('B1: a store or a transport whose ping never answers is unhealthy after six seconds', async () => {
  const clock = new TestClock();
  const never = () => new Promise<void>(() => {});
  const transport = { ...memoryTransport({ clock }), ping: never };
  const asked = checkHealth({ ...memoryStore({ clock }), ping: never }, transport);
  await clock.whenSleeping(2);
  await clock.advance(6_000);
  const silent = (name: string) => ({
    ...{ name, status: 'unhealthy', latencyMs: 6_000, reason: `${name} did not answer within 6 seconds.` },
  });
  expect(await asked).toEqual({
    status: 'degraded',
    store: silent('memory'),
    transport: silent(transport.capabilities.name),
  });
});
