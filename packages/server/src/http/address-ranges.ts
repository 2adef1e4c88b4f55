import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { WaybillError } from '@waybill/core';

/** Addresses and ranges of them, such as 10.0.0.5 and 10.0.0.0/8. An address of IPv6 is in none of IPv4, mapped or not. */
export class AddressRanges {
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();

  /** `whose`: as an error names what an entry is, such as `of a proxy`. */
  constructor(ranges: readonly string[], whose: string) {
    for (const range of ranges) this.#add(range, whose);
  }

  has(address: string): boolean {
    if (isIPv4(address)) return this.#v4.check(address, 'ipv4');
    return isIPv6(address) && this.#v6.check(address, 'ipv6');
  }

  #add(range: string, whose: string): void {
    const [address = '', bits, ...more] = range.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const most = family === 'ipv4' ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    const isWrong = isIP(address) === 0 || !/^\d{0,3}$/.test(bits ?? '') || bits === '' || prefix > most;
    if (isWrong || more.length > 0) {
      throw new WaybillError('invalid_request', `Invalid address ${whose} '${range.slice(0, 100)}'.`, {
        hint: 'Use an address or a range, such as 10.0.0.5 or 10.0.0.0/8.',
      });
    }
    (family === 'ipv4' ? this.#v4 : this.#v6).addSubnet(address, prefix, family);
  }
}
