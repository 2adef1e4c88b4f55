import { test } from 'vitest';
import { fuzzBodies } from '../testing/rpc-fuzz.ts';
import { fuzzStreams, fuzzTokens } from '../testing/rpc-stream-fuzz.ts';

const SLOW = { timeout: 1_200_000 };

test('60,000 bodies that chance has made end in answers or clean errors', SLOW, () => fuzzBodies(60_000));

test('40,000 streams that chance has made end cleanly, and leave no job behind', SLOW, () => fuzzStreams(40_000));

test('10,000 task tokens that chance has made are refused', SLOW, () => fuzzTokens(10_000));
