import { WaybillError } from '@waybill/core';
import { faultyStore, memoryStore } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { instrument } from '../instrument.ts';
import { Recorder } from '../testing/recorder.ts';

const QUERY = { filter: { tenant: '' }, limit: 10 };

test.each([
  [new Error('socket hang up'), 1],
  [new WaybillError('unavailable', 'away'), 1],
  [new WaybillError('timeout', 'late'), 1],
  [new WaybillError('invalid_request', 'What cursor is this?'), 0],
  [new WaybillError('not_found', 'gone'), 0],
])('%s counts as %i failures of the store', async (error, failures) => {
  const recorder = new Recorder();
  const store = instrument(recorder).store(
    faultyStore(memoryStore(), [{ method: 'list', call: 1, when: 'before', error }]),
  );
  await expect(store.list(QUERY as never)).rejects.toBe(error);
  const told = Object.values(await recorder.metric('waybill.store.errors.total'));
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(failures);
});
