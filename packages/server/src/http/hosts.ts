import { isIP, isIPv4 } from 'node:net';
import { WaybillError } from '@waybill/core';

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  const address = bare(host)
    .toLowerCase()
    .replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

/** An IPv6 address without the brackets that URLs put around it. */
export const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** The name in a `Host` header: in lower case, without the port and without the dot that ends a full name. */
export const nameOf = (header: string): string => bare(header.toLowerCase().replace(/:\d*$/, '')).replace(/\.$/, '');

/** Browsers resolve every name below `localhost` to this machine, and nobody can own one. */
export const isLoopbackName = (name: string): boolean => isLoopback(name) || /^[a-z0-9.-]+\.localhost$/.test(name);

/** Host names as a user gives them. */
export function checkHostNames(given: readonly string[]): ReadonlySet<string> {
  for (const name of given) {
    if (isIP(bare(name)) > 0 || /^[a-z0-9._-]+$/i.test(name)) continue;
    throw new WaybillError('invalid_request', `Invalid host name '${name}'.`, {
      hint: 'Use a name or an address without scheme and port, such as jobs.example.',
    });
  }
  return new Set(given.map((name) => bare(name).toLowerCase()));
}
