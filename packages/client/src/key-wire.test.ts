import type { ApiKey } from '@waybill/core';
import { expect, test } from 'vitest';
import { keyFromWire, keyRequestToWire, keyToWire } from './key-wire.ts';

const whole: ApiKey = {
  ...{ id: 'abcdefghjkmn', name: 'ci', tenant: 'acme', scopes: ['enqueue', 'read'], queues: ['mail'], types: ['a.b'] },
  ...{
    requestsPerMinute: 60,
    createdAt: 1,
    createdBy: 'root',
    rotatedAt: 2,
    expiresAt: 3,
    revokedAt: 4,
    lastUsedAt: 5,
  },
};
const plain: ApiKey = {
  ...{ id: 'abcdefghjkmn', name: 'ci', tenant: '*', scopes: ['admin'], createdAt: 1 },
  ...{ rotatedAt: null, expiresAt: null, revokedAt: null, lastUsedAt: null },
};

test.each([whole, plain])('a key comes back as it went out', (key) => {
  expect(keyFromWire(JSON.parse(JSON.stringify(keyToWire(key))))).toEqual(key);
});

test('what does not apply is absent, and names are in snake case', () => {
  expect(keyToWire(plain)).toEqual({
    ...{ id: 'abcdefghjkmn', name: 'ci', tenant: '*', scopes: ['admin'], created_at: '1970-01-01T00:00:00.001Z' },
  });
  expect(Object.keys(keyToWire(whole)).filter((name) => /[A-Z]/.test(name))).toEqual([]);
});

test('a key that somebody reads with its hash is shown without it', () => {
  const stored = { ...whole, hash: 'secret-hash', before: { hash: 'old-hash', until: 9 } };
  expect(JSON.stringify(keyToWire(stored))).not.toContain('hash');
});

test('a request is written as the server reads it; what is wrong in it is for the server to refuse', () => {
  expect(keyRequestToWire({ name: 'ci', scopes: ['work'], requestsPerMinute: 5, expiresAt: 0 })).toEqual({
    ...{ name: 'ci', scopes: ['work'], requests_per_minute: 5, expires_at: '1970-01-01T00:00:00.000Z' },
  });
  expect(keyRequestToWire({ name: 'ci', scopes: ['work'], expiresAt: null })).toEqual({ name: 'ci', scopes: ['work'] });
  for (const bad of ['soon', Number.NaN, 1e300])
    expect(keyRequestToWire({ name: 'ci', scopes: [], expiresAt: bad as number })).toHaveProperty('expires_at', bad);
});
