import { propertyRuns } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { BOTH_STREAM, METHOD_REFUSED, OPEN } from './testing/access-walk/routes.ts';
import { NAMES, walkerOn } from './testing/access-walk/senders.ts';
import { STORES } from './testing/access-walk/stores.ts';
import { testForeign, testOwn } from './testing/access-walk/test-answers.ts';
import { testRandomWalks } from './testing/access-walk/test-random-walks.ts';

test('every route of the app is walked, so that none can be added without its row', async () => {
  const { app } = await walkerOn(STORES.sqlite.open);
  // Middleware stands for all paths below one.
  const isRoute = ({ method, path }: { method: string; path: string }) =>
    method !== 'ALL' || (!path.includes('*') && !METHOD_REFUSED.includes(path));
  const routes = app.routes.filter((route) => isRoute(route) && ![...OPEN, ...BOTH_STREAM].includes(route.path));
  expect([...NAMES].sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});

/** DynamoDB Local is slow on a busy machine, and a test here makes hundreds of requests. */
const PATIENT = { timeout: 300_000 };
const { sqlite, postgres, dynamodb } = STORES;

describe(`keys of two tenants on ${sqlite.kind}`, PATIENT, () => {
  testOwn(sqlite);
  testForeign(sqlite);
  testRandomWalks(sqlite, propertyRuns(60));
});

// The walk of every key over every route of these is in access-walk.slow.test.ts.
describe(`keys of two tenants on ${postgres.kind}`, PATIENT, () => {
  testOwn(postgres);
  testRandomWalks(postgres, propertyRuns(30));
});

describe(`keys of two tenants on ${dynamodb.kind}`, PATIENT, () => testRandomWalks(dynamodb, propertyRuns(15)));
