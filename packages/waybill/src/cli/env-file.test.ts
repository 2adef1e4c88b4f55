import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withEnvFile } from './env-file.ts';
import type { Io } from './io.ts';
import { folder } from './testing/terminal.ts';

const io = { env: { WAYBILL_TEST_SET: 'by the environment', WAYBILL_TEST_EMPTY: '' } } as unknown as Io;

test('the environment beats the file, also where a variable is empty; this process gets what it lacks', () => {
  const file = path.join(folder(), 'a.env');
  const lines = ['# comment', 'export WAYBILL_TEST_NEW="two words" # why', 'WAYBILL_TEST_SET=by the file'];
  writeFileSync(file, [...lines, 'WAYBILL_TEST_EMPTY=by the file'].join('\n'));
  process.env['WAYBILL_TEST_SET'] = 'by the environment';
  onTestFinished(() => {
    for (const name of ['NEW', 'SET', 'EMPTY']) delete process.env[`WAYBILL_TEST_${name}`];
  });
  expect(withEnvFile(file, io).env).toEqual({ ...io.env, WAYBILL_TEST_NEW: 'two words' });
  expect(process.env['WAYBILL_TEST_NEW']).toBe('two words');
  expect(process.env['WAYBILL_TEST_SET']).toBe('by the environment');
});

test('without a file nothing changes', () => {
  expect(withEnvFile(undefined, io)).toBe(io);
});
