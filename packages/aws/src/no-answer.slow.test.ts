import { testNoAnswer } from './testing/test-no-answer.ts';

/** Within the first line, the headers and the body of an answer, and behind many a short one. */
const BYTES = [9, 60, 150, 250, 400, 700, 1_500, 5_000];

testNoAnswer([
  { name: 'trickles', mode: 'trickle' },
  { name: 'drips', mode: 'drip' },
  ...BYTES.map((resetAfter) => ({ name: `resets after ${resetAfter} bytes`, mode: 'reset' as const, resetAfter })),
]);
