import { randomBytes } from 'node:crypto';

/** Characters of a span's id: 8 bytes as lower-case hex. */
const LENGTH = 16;
const IDS_AT_ONCE = 512;

let hex = '';
let at = 0;

/** A random id for a span. Made in bulk, because a call for eight random bytes costs more than the rest of a span. */
export function spanId(): string {
  if (at === hex.length) {
    hex = randomBytes((LENGTH / 2) * IDS_AT_ONCE).toString('hex');
    at = 0;
  }
  at += LENGTH;
  return hex.slice(at - LENGTH, at);
}
