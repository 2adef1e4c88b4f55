import { expect, test } from 'vitest';
import { checkNodeVersion } from './node-version.ts';

test.each(['20.20.2', '22.12.0', '18.0.0'])(
  'D3: Node %s is refused, with the version found and the one needed',
  (found) => {
    expect(() => checkNodeVersion(found)).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        message: `Waybill needs Node.js 22.13 or newer, and this is ${found}.`,
        hint: expect.stringContaining('node@24'),
      }),
    );
  },
);

test.each(['22.13.0', '22.20.1', '24.0.0', '26.1.0-nightly', undefined])('D3: %s is taken', (found) => {
  expect(() => checkNodeVersion(found)).not.toThrow();
});
