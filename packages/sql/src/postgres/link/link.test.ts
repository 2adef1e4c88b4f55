import { expect, test } from 'vitest';
import { tempLink } from '../testing/server.ts';

test('rows come as arrays, int8 as number', async () => {
  const link = await tempLink({ migrate: false });
  const rows = await link.query("select 9007199254740991::int8, array[1, 2]::int8[], 'a', null", []);
  expect(rows).toEqual([[Number.MAX_SAFE_INTEGER, [1, 2], 'a', null]]);
});
