import { expect, test } from 'vitest';
import { AddressRanges } from '../http/address-ranges.ts';
import { receiver } from '../testing/receiver.ts';
import { post } from './post.ts';

// fault: the name of a receiver comes to stand for another address
test('a receiver in a named range is delivered to by name, and a name that leaves the range is not', async () => {
  const { url, got } = await receiver();
  const answers = ['10.0.0.1', '127.0.0.1'];
  const options = {
    ...{ allowPrivate: false, ranges: new AddressRanges(['127.0.0.1'], 'of a receiver'), timeoutMs: 10_000 },
    resolve: async () => [{ address: answers.pop()!, family: 4 }],
  };
  const send = () =>
    post(
      `http://hooks.example:${new URL(url).port}/`,
      { headers: {}, body: '{}' },
      options,
      AbortSignal.timeout(60_000),
    );
  expect(await send()).toMatchObject({ status: 204 });
  await expect(send()).rejects.toThrow('--webhook-target');
  await expect(post('https://10.0.0.1/', { headers: {}, body: '{}' }, options, AbortSignal.timeout(1))).rejects.toThrow(
    'private range',
  );
  expect(got).toHaveLength(1);
});
