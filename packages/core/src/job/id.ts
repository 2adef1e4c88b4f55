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

/** The two bits that tell the variant, and two random ones. */
const VARIANTS = '89ab';

/** A UUIDv7 (RFC 9562): 48 bits of time, then random bits. Order within a millisecond is not promised. */
export function newJobId(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  const random = randomDigits(19);
  const variant = VARIANTS[Number.parseInt(random[18]!, 16) & 3];
  const [a, b, c] = [random.slice(0, 3), random.slice(3, 6), random.slice(6, 18)];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${a}-${variant}${b}-${c}`;
}
