import { describe, expect, test } from 'vitest';
import { AddressRanges } from '../http/address-ranges.ts';
import { checkedLookup } from './checked-lookup.ts';
import { checkTarget, isPublicAddress, mayGoTo } from './target.ts';

const PRIVATE = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.1', '192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.7', '203.0.113.9'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '2002:a00:1::1', '3fff::1', '5f00::1'],
  ...['fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', 'fd00:ec2::254', '::127.0.0.1'],
  ...['', 'example.com', '8.8.8', '2001:4860:4860::8888%1'],
];
const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '192.0.1.1',
  '100.128.0.1',
  '2001:4860:4860::8888',
  '2606:4700::1111',
];

test.each(PRIVATE)('%s is no address of a receiver on the internet', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(PUBLIC)('%s may be one', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

const strict = { allowPrivate: false };
const HTTPS = { protocol: 'https:' };

test.each([
  ['ftp://example.com/', /must be an address/],
  ['file:///etc/passwd', /must be an address/],
  ['no address', /must be an address/],
  ['http://example.com/', /must begin with https/],
  ['https://ada:secret@example.com/', /user name/],
  ['https://example.com/#part', /fragment/],
  [`https://example.com/${'x'.repeat(3_000)}`, /at most/],
  ['https://127.0.0.1/', /private range/],
  // Other ways to write 127.0.0.1 and 10.0.0.1.
  ['https://2130706433/', /private range/],
  ['https://0x7f.1/', /private range/],
  ['https://0177.0.0.1/', /private range/],
  ['https://10.1/', /private range/],
  ['https://１２７.0.0.1/', /private range/],
  ['https://[::1]/', /private range/],
  ['https://[::ffff:10.0.0.1]/', /private range/],
  ['https://[64:ff9b::169.254.169.254]/', /private range/],
  ['https://localhost/', /private range/],
  ['https://LOCALHOST./', /private range/],
  ['https://hooks.localhost/', /private range/],
])('%s is refused, and the refusal does not repeat it', (url, message) => {
  const check = () => checkTarget(url, strict, 'url');
  expect(check).toThrow(message);
  expect(check).not.toThrow(/secret|passwd|example\.com\/x/);
});

test('others are not, whatever their port', () => {
  expect(checkTarget('https://example.com:8443/hooks?token=1', strict).port).toBe('8443');
  expect(checkTarget('https://8.8.8.8/', strict).hostname).toBe('8.8.8.8');
  expect(checkTarget('http://10.0.0.1:9000/', { allowPrivate: true }).port).toBe('9000');
  expect(() => checkTarget('ftp://10.0.0.1/', { allowPrivate: true })).toThrow(/must be an address/);
});

test('a connection gets public addresses only, in either form that sockets ask for', async () => {
  const found = [
    { address: '10.0.0.1', family: 4 },
    { address: '8.8.8.8', family: 4 },
    { address: '::1', family: 6 },
  ];
  const ask = (addresses: typeof found, all: boolean, allowPrivate = false) =>
    new Promise<unknown[]>((resolve) => {
      const lookup = checkedLookup(async () => addresses, HTTPS, { allowPrivate }, new AbortController().signal);
      lookup('example.com', { all }, (...answer: unknown[]) => resolve(answer));
    });
  expect(await ask(found, true)).toEqual([null, [{ address: '8.8.8.8', family: 4 }]]);
  expect(await ask(found, false)).toEqual([null, '8.8.8.8', 4]);
  const [error] = await ask([found[0]!, found[2]!], true);
  expect(error).toMatchObject({ code: 'PRIVATE_ADDRESS' });
  expect(await ask(found, true, true)).toEqual([null, found]);
});

describe('with named ranges', () => {
  const within = (...named: string[]) => ({ allowPrivate: false, ranges: new AddressRanges(named, 'of a receiver') });
  const policy = within('10.1.0.0/16', 'fd00:1::/32', '192.168.7.7');

  test.each([
    'https://10.1.2.3/',
    'http://10.1.2.3:9000/',
    'https://[fd00:1::5]/',
    'http://192.168.7.7/',
    'https://8.8.8.8/',
  ])('%s is taken', (url) => expect(checkTarget(url, policy).href).toBe(url));

  test.each([
    ['https://10.2.0.1/', /private range/],
    ['https://192.168.7.8/', /private range/],
    ['https://[fd00:2::1]/', /private range/],
    ['https://169.254.169.254/', /private range/],
    ['https://localhost/', /private range/],
    ['http://8.8.8.8/', /https/],
    ['http://10.2.0.1/', /https/],
    // The same address, carried by one of IPv6.
    ['https://[::ffff:10.1.2.3]/', /private range/],
    ['https://[::10.1.2.3]/', /private range/],
    ['https://[64:ff9b::10.1.2.3]/', /private range/],
    ['https://[2002:a01:203::1]/', /private range/],
  ])('%s is refused', (url, message) => {
    expect(() => checkTarget(url, policy)).toThrow(message);
  });

  test('no range of IPv6 names an address of IPv4, not even the one of all', () => {
    const all = within('::/0');
    for (const address of [
      '::ffff:10.1.2.3',
      '::ffff:a01:203',
      '::10.1.2.3',
      '64:ff9b::a01:203',
      '2002:a01:203::1',
      '10.1.2.3',
    ])
      expect([address, mayGoTo(address, HTTPS, all)]).toEqual([address, false]);
    expect(mayGoTo('fd12::1', HTTPS, all)).toBe(true);
    expect(mayGoTo('::1', HTTPS, within('::1'))).toBe(true);
    expect(mayGoTo('fe80::1%eth0', HTTPS, within('fe80::/10'))).toBe(false);
  });

  test('loopback may be named, and then localhost too', () => {
    expect(checkTarget('http://localhost:9000/', within('127.0.0.0/8')).port).toBe('9000');
  });

  test('a connection gets addresses of the ranges, and over plain http no other', async () => {
    const found = ['10.1.0.1', '10.2.0.1', '8.8.8.8', '::ffff:10.1.0.1'].map((address) => ({
      ...{ address, family: address.includes(':') ? 6 : 4 },
    }));
    const ask = (protocol: string, addresses = found) =>
      new Promise<unknown[]>((resolve) => {
        const lookup = checkedLookup(async () => addresses, { protocol }, policy, new AbortController().signal);
        lookup('example.com', { all: true }, (...answer: unknown[]) => resolve(answer));
      });
    expect(await ask('https:')).toEqual([null, [found[0], found[2]]]);
    expect(await ask('http:')).toEqual([null, [found[0]]]);
    expect((await ask('http:', found.slice(1)))[0]).toMatchObject({ code: 'PLAIN_HTTP' });
  });

  test.each(['10.0.0.0/33', '10.0.0.0/', 'example.com', '10.0.0.0/8/8', '', '10.0.0.0/1e1'])(
    '%j is no range',
    (range) => {
      expect(() => within(range)).toThrow(/Invalid address of a receiver/);
    },
  );
});
