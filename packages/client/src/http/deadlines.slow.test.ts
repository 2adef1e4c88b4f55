import { describe, test } from 'vitest';
import type { Behaviour } from './testing/bad-servers.ts';
import { calls, expectGivenUp } from './testing/every-call.ts';

/** Of an answer whose headers are some hundred bytes, and whose body is a megabyte. */
const resetAfter =
  (bytes: number): Behaviour =>
  (socket, head) =>
    void socket.write(`${head}{${' '.repeat(10_000)}`.slice(0, bytes), () => socket.resetAndDestroy());

// fault: the connection is reset behind so many bytes of the answer
describe.each([1, 9, 15, 17, 40, 60, 200, 5_000])('a server that resets the connection after %i bytes', (bytes) => {
  test.each(calls)('%s is given up in time, and the error names the server', (_call, its) =>
    expectGivenUp(resetAfter(bytes), its),
  );
});
