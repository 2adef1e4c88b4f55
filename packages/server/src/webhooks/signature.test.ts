import { expect, test } from 'vitest';
import { signatures } from './signature.ts';

// The example of https://github.com/standard-webhooks/standard-webhooks.
const signed = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

test('signs as libraries for receivers check it', () => {
  expect(signatures([{ secret }], signed, 0)).toBe(signature);
});

test('signs with the old secret too until its time is over', () => {
  const secrets = [{ secret: 'another one' }, { secret, until: 1_000 }];
  const both = signatures(secrets, signed, 999).split(' ');
  expect(both).toHaveLength(2);
  expect(both[1]).toBe(signature);
  expect(signatures(secrets, signed, 1_000)).toBe(both[0]);
});

test.each([{ id: 'msg_other' }, { timestamp: 1 }, { body: '{}' }])('depends on %o', (change) => {
  expect(signatures([{ secret }], { ...signed, ...change }, 0)).not.toBe(signature);
});
