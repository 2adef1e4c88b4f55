import { test } from 'vitest';
import { tryEveryCall } from './testing/every-call.ts';

// fault: the connection is reset behind so many bytes of answers: in a header, in a row, or later
test.each([1, 3, 5, 20, 60, 150, 400, 1_000, 4_000])(
  'guarantee 10: behind a network that resets connections after %i bytes, every call ends in time and has one effect',
  (bytes) => tryEveryCall('reset', bytes),
);
