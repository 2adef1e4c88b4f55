import { expect, test } from 'vitest';
import { sqsOptionsOf } from './address.ts';

test('an address names region, prefix and endpoint', () => {
  expect(sqsOptionsOf('sqs://eu-west-1/jobs-prod?endpoint=http://127.0.0.1:4566')).toEqual({
    ...{ region: 'eu-west-1', prefix: 'jobs-prod', endpoint: 'http://127.0.0.1:4566' },
  });
  expect(sqsOptionsOf('sqs://eu-west-1')).toEqual({ region: 'eu-west-1' });
});

test.each(['sqs', 'http://a/b', 'sqs://r/p?endpint=x'])('%s is refused', (address) => {
  expect(() => sqsOptionsOf(address)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
