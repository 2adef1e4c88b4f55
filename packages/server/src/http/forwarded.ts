import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { AddressRanges } from './address-ranges.ts';
import { bare } from './hosts.ts';

/** What cannot come from the internet: loopback, private and link-local addresses. Proxies mostly have one of these. */
const PRIVATE = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
];

/** Longer chains are nonsense, and are not read further. */
const MOST_HOPS = 32;

/** What a proxy says about the client that it forwards. */
export interface Forwarded {
  address: string | undefined;
  isHttps: boolean;
  host: string | undefined;
}

/** Tells the client behind proxies. Headers are believed only from an address that is one of the proxies'. */
export class TrustedProxies {
  readonly #trusted: AddressRanges;

  /** True: every address that is not of the internet. Else the addresses and ranges of the proxies. */
  constructor(given: true | readonly string[]) {
    this.#trusted = new AddressRanges(given === true ? PRIVATE : given, 'of a proxy');
  }

  read({ socket, headers }: IncomingMessage): Forwarded {
    const peer = withoutMapping(socket.remoteAddress);
    const isEncrypted = 'encrypted' in socket && socket.encrypted === true;
    if (peer === undefined || !this.#trusted.has(peer)) return { address: peer, isHttps: isEncrypted, host: undefined };
    const proto = last(headers['x-forwarded-proto']);
    const host = last(headers['x-forwarded-host']);
    return {
      address: this.#clientOf(peer, textOf(headers['x-forwarded-for'])),
      isHttps: proto === undefined ? isEncrypted : proto.toLowerCase() === 'https',
      host: host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) ? host : undefined,
    };
  }

  /** From the end: each proxy appends whom it heard from, and what stands before the first stranger may be made up. */
  #clientOf(peer: string, chain: string): string {
    const hops = chain.split(',').slice(-MOST_HOPS).reverse();
    let client = peer;
    for (const hop of hops) {
      const address = withoutMapping(bare(hop.trim().replace(/^(\[.*\]|[\d.]+):\d+$/, '$1')));
      if (address === undefined || isIP(address) === 0) break;
      client = address;
      if (!this.#trusted.has(address)) break;
    }
    return client;
  }
}

/** IPv4 on a socket of both families is shown as `::ffff:1.2.3.4`. */
const withoutMapping = (address: string | undefined): string | undefined =>
  address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');

const textOf = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? header.join(',') : (header ?? '');

/** The nearest proxy writes last. */
const last = (header: string | string[] | undefined): string | undefined =>
  textOf(header).split(',').at(-1)!.trim() || undefined;
