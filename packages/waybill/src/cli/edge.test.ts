import { silentLogger } from '@waybill/core';
import { expect, test } from 'vitest';
import { edgeOf, warnOfEdge } from './edge.ts';
import type { ServeOptions } from './serve-options.ts';

function warnings(options: Partial<ServeOptions>, asksWho: boolean): string[] {
  const told: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void told.push(message) };
  warnOfEdge({ host: '127.0.0.1', ...options } as ServeOptions, asksWho, logger);
  return told;
}

test('a proxy in front of a server that asks nobody is warned of, on loopback too', () => {
  expect(warnings({ trustProxy: true }, false)).toEqual([
    expect.stringContaining('--trust-proxy was given without --auth'),
  ]);
  expect(warnings({ trustProxy: ['10.0.0.5'] }, false)).toHaveLength(1);
  expect(warnings({ trustProxy: true }, true)).toEqual([]);
  expect(warnings({}, false)).toEqual([]);
});

test.each([
  ['poll', false, undefined],
  ['poll', true, undefined],
  ['sqs://eu-west-1/shop', false, true],
])('lease tokens are signed where hints carry receipts: transport %s, auth %s', (transport, auth, leaseTokens) => {
  // Where callers show a key, the app signs by default: see auth/lease-tokens.test.ts of the server.
  const options = { host: '127.0.0.1', transport, auth } as ServeOptions;
  expect(edgeOf(options, silentLogger)).toMatchObject({ asksWho: auth });
  expect(edgeOf(options, silentLogger).leaseTokens).toBe(leaseTokens);
});
