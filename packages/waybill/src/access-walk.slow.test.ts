import { describe } from 'vitest';
import { STORES } from './testing/access-walk/stores.ts';
import { testForeign, testOwn } from './testing/access-walk/test-answers.ts';

const { postgres, dynamodb } = STORES;

describe(`keys of two tenants on ${postgres.kind}`, () => testForeign(postgres));

describe(`keys of two tenants on ${dynamodb.kind}`, () => {
  testOwn(dynamodb);
  testForeign(dynamodb);
});
