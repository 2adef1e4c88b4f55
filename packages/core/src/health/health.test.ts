import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';

test('a store that answers is healthy; one that does not is an answer, not an exception', async () => {
  const { waybill } = testEngine({ faults: [{ method: 'ping', call: 2, when: 'before' }] });
  expect(await waybill.health()).toMatchObject({ status: 'ok', store: { name: 'memory', status: 'ok' } });
  expect(await waybill.health()).toMatchObject({ status: 'degraded', store: { status: 'unhealthy' } });
});
