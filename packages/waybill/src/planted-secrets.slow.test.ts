import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { Planted } from './testing/planted.ts';
import { runCommand } from './testing/run-command.ts';

const planted = new Planted();

// It waits for its database for half a minute.
test('a server on a database that refuses connections says what is wrong, and no secret', async () => {
  const args = ['serve', '--port', '0', '--log-format', 'pretty', '--store', planted.postgres];
  const { code, text } = await runCommand(args, tmpdir(), { ...planted.env, WAYBILL_LOG: 'debug' });
  expect([code, planted.foundIn(text)]).toEqual([1, []]);
  expect(text).toContain('127.0.0.1:1');
});
