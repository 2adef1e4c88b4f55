import { randomBytes } from 'node:crypto';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const isJobId = (text: string): boolean => UUID_V7.test(text);

const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);

/** Ten random bytes; drawn from a pool, since one system call per id is most of what an id costs. */
function randomTen(): Buffer {
  if (pool.length < 10) pool = randomBytes(POOL_BYTES);
  const ten = pool.subarray(0, 10);
  pool = pool.subarray(10);
  return ten;
}

/** A UUIDv7 (RFC 9562): 48 bits of time, then random bits. Order within a millisecond is not promised. */
export function newJobId(now: number): string {
  const random = randomTen();
  const time = now.toString(16).padStart(12, '0');
  const a = (0x7000 | (random.readUInt16BE(0) & 0x0fff)).toString(16);
  const b = (0x8000 | (random.readUInt16BE(2) & 0x3fff)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${random.toString('hex', 4)}`;
}
