import { BlockList, isIP } from 'node:net';
import { invalidField } from '@waybill/core';
import { AddressRanges } from '../http/address-ranges.ts';

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

/** Forms that carry an IPv4 address: what is behind them may be any address, so that no range can name them. */
const carriers = new BlockList();
for (const [net, bits] of [
  ['64:ff9b::', 32],
  ['2001::', 32],
  ['2002::', 16],
] as const)
  carriers.addSubnet(net, bits, 'ipv6');
/** With these, `::ffff:10.0.0.1`, `::10.0.0.1` and the like begin. Loopback alone does too. */
const unassigned = new BlockList();
unassigned.addSubnet('::', 16, 'ipv6');

const carriesIpv4 = (address: string): boolean =>
  isIP(address) === 6 && (carriers.check(address, 'ipv6') || (unassigned.check(address, 'ipv6') && address !== '::1'));

export interface TargetPolicy {
  /** Targets in private ranges and plain HTTP, for tests and receivers in the same network. */
  allowPrivate: boolean;
  /** Ranges that are allowed besides the internet, over plain HTTP too. */
  ranges?: AddressRanges | undefined;
}

/** Refuses what is no range. Undefined: none are named. */
export const webhookRanges = (named: readonly string[]): AddressRanges | undefined =>
  named.length > 0 ? new AddressRanges(named, 'of a receiver') : undefined;

/** Whether a delivery to this URL may go to this address. */
export function mayGoTo(address: string, { protocol }: Pick<URL, 'protocol'>, policy: TargetPolicy): boolean {
  if (policy.allowPrivate || isNamed(address, policy)) return true;
  return protocol === 'https:' && isPublicAddress(address);
}

const isNamed = (address: string, { ranges }: TargetPolicy): boolean =>
  ranges !== undefined && !address.includes('%') && ranges.has(address) && !carriesIpv4(address);

/** Refuses what no webhook may be sent to, as far as its address alone tells. What it resolves to is checked with each try. */
export function checkTarget(text: string, policy: TargetPolicy, field = 'url'): URL {
  // The address may hold a token, so no refusal repeats it.
  if (text.length > MAX_URL) throw invalidField(field, `must have at most ${MAX_URL} characters.`, { max: MAX_URL });
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidField(field, 'must be an address such as https://example.com/hooks.');
  if (url.username !== '' || url.password !== '')
    throw invalidField(field, 'must not hold a user name or password. Receivers know a delivery by its signature.');
  if (url.hash !== '') throw invalidField(field, 'must not have a fragment (#), which is never sent.');
  if (policy.allowPrivate) return url;
  const host = bareHost(url);
  const isAddress = isIP(host) !== 0;
  if (url.protocol === 'http:' && (isAddress ? !isNamed(host, policy) : policy.ranges === undefined))
    throw invalidField(field, PLAIN_HTTP);
  if (isAddress && !mayGoTo(host, url, policy)) throw invalidField(field, PRIVATE);
  if (/(^|\.)localhost\.?$/i.test(host) && !LOOPBACK.some((own) => isNamed(own, policy)))
    throw invalidField(field, PRIVATE);
  return url;
}

const LOOPBACK = ['127.0.0.1', '::1'];
const PRIVATE = 'must not be in a private range. Start the server with --webhook-target RANGE to allow one.';
const PLAIN_HTTP =
  'must begin with https://. Start the server with --webhook-target RANGE to allow http to the receivers in a range.';

/** As sockets want it: an IPv6 address without its brackets. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');
