import { expect, test } from 'vitest';
import { dynamoOptions } from './dynamo-address.ts';

test('region, table, endpoint and index come from the address', () => {
  expect(dynamoOptions('dynamodb://eu-west-1/jobs')).toEqual({ region: 'eu-west-1', table: 'jobs' });
  const local = `dynamodb://us-east-1/jobs?endpoint=${encodeURIComponent('http://127.0.0.1:8000')}&ready=none`;
  expect(dynamoOptions(local)).toEqual({
    ...{ region: 'us-east-1', table: 'jobs', endpoint: 'http://127.0.0.1:8000', ready: 'none' },
  });
});

test.each(['dynamodb://eu-west-1', 'dynamodb:jobs?x=1', 'dynamodb://r/t?ready=maybe', 'dynamodb://r/t?shards=2'])(
  '%s is refused',
  (address) => {
    expect(() => dynamoOptions(address)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  },
);
