import { BlockList, isIP } from 'node:net';
import { invalidField } from '@waybill/core';

export const MAX_URL = 2_048;

/** Blocks that no receiver on the internet has: this host, private, link-local (cloud metadata), shared, test, multicast. */
const V4_REFUSED: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Of IPv6 only this is the internet. Everything else is refused with it: loopback, unique local, link-local, multicast, and
 * the forms that carry an IPv4 address, such as ::ffff:10.0.0.1 and 64:ff9b::10.0.0.1.
 */
const V6_GLOBAL = ['2000::', 3] as const;

/** Inside of it: protocol assignments with Teredo, documentation, and 6to4, which carries an IPv4 address. */
const V6_REFUSED: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const refused = new BlockList();
for (const [net, bits] of V4_REFUSED) refused.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of V6_REFUSED) refused.addSubnet(net, bits, 'ipv6');
const global = new BlockList();
global.addSubnet(...V6_GLOBAL, 'ipv6');

/** Whether an address can be that of a receiver on the internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  return family === 6 && !address.includes('%') && global.check(address, 'ipv6') && !refused.check(address, 'ipv6');
}

export interface TargetPolicy {
  /** Targets in private ranges and plain HTTP, for tests and receivers in the same network. */
  allowPrivate: boolean;
}

/** Refuses what no webhook may be sent to, as far as its address alone tells. What it resolves to is checked with each try. */
export function checkTarget(text: string, { allowPrivate }: TargetPolicy, field = 'url'): URL {
  // The address may hold a token, so no refusal repeats it.
  if (text.length > MAX_URL) throw invalidField(field, `must have at most ${MAX_URL} characters.`, { max: MAX_URL });
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidField(field, 'must be an address such as https://example.com/hooks.');
  if (url.username !== '' || url.password !== '')
    throw invalidField(field, 'must not hold a user name or password. Receivers know a delivery by its signature.');
  if (url.hash !== '') throw invalidField(field, 'must not have a fragment (#), which is never sent.');
  if (allowPrivate) return url;
  if (url.protocol === 'http:')
    throw invalidField(
      field,
      'must begin with https://. Start the server with --allow-private-webhooks to allow http.',
    );
  const host = bareHost(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw invalidField(field, PRIVATE);
  if (/(^|\.)localhost\.?$/i.test(host)) throw invalidField(field, PRIVATE);
  return url;
}

const PRIVATE = 'must not be in a private range. Start the server with --allow-private-webhooks to allow it.';

/** As sockets want it: an IPv6 address without its brackets. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');
