import { randomBytes } from 'node:crypto';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const isJobId = (text: string): boolean => UUID_V7.test(text);

const POOL_BYTES = 4096;
/** Random hex digits, drawn in advance: one system call per id would be most of what an id costs. */
let pool = '';
let used = 0;

function randomDigits(count: number): string {
  if (used + count > pool.length) [pool, used] = [randomBytes(POOL_BYTES).toString('hex'), 0];
  used += count;
  return pool.slice(used - count, used);
}

/** Three hex digits for each number of twelve bits. */
const DIGITS = Array.from({ length: 4096 }, (_, number) => number.toString(16).padStart(3, '0'));
/** The two bits that tell the variant, and two of the counter. */
const VARIANTS = '89ab';
/** A counter has 26 bits; it begins at random in the lower half, so that no millisecond sees its end. */
const FIRST_BELOW = 2 ** 25;

let time = Number.NaN;
let prefix = '';
let counter = 0;

/**
 * A UUIDv7 (RFC 9562): 48 bits of time, a counter, then random bits. Those of one process ascend, also within a
 * millisecond: what is enqueued together lies together in every index.
 */
export function newJobId(now: number): string {
  if (now === time) counter += 1;
  else {
    const digits = now.toString(16).padStart(12, '0');
    [time, prefix] = [now, `${digits.slice(0, 8)}-${digits.slice(8)}-7`];
    counter = Number.parseInt(randomDigits(7), 16) % FIRST_BELOW;
  }
  const variant = VARIANTS[(counter >> 12) & 3];
  return `${prefix}${DIGITS[counter >> 14]}-${variant}${DIGITS[counter & 4095]}-${randomDigits(12)}`;
}
