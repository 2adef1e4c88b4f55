import { isIPv6 } from 'node:net';

/** One household has 2^64 addresses of IPv6, so they count as one. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = address.includes('::') ? Array.from({ length: 8 - first!.length - last!.length }, () => '0') : [];
  return [...first!, ...zeros, ...last!].slice(0, 4).join(':');
}
