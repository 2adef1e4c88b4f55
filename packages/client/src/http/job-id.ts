/** A UUIDv7 (RFC 9562) of what every browser has: 48 bits of time, then random bits. */
export function newJobId(now = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  bytes[0] = 0x70 | (bytes[0]! & 0x0f);
  bytes[2] = 0x80 | (bytes[2]! & 0x3f);
  const time = now.toString(16).padStart(12, '0');
  const rest = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}
