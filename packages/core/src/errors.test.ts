import { expect, test } from 'vitest';
import { WaybillError } from './errors.ts';

test('what was thrown becomes a WaybillError, and only a refusal keeps its words', () => {
  const own = new WaybillError('conflict', 'no');
  expect(WaybillError.from(own)).toBe(own);
  const facts = { name: 'WaybillError', code: 'duplicate', details: { id: 1 }, hint: 'Use the other.' };
  const remote = Object.assign(new Error('There is one already.'), facts);
  const kept = WaybillError.from(remote);
  expect(kept).toBeInstanceOf(WaybillError);
  expect(kept).toMatchObject({ ...facts, message: 'There is one already.', cause: remote });
  for (const unknown of [new Error('secret'), Object.assign(new Error('secret'), { ...facts, code: 'E1' }), 'secret']) {
    expect(WaybillError.from(unknown)).toMatchObject({
      code: 'internal',
      message: 'The server met an unexpected error.',
    });
  }
});
