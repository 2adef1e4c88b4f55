import fc from 'fast-check';

/** What the caller believes to be the version: what it is, what it was once, or that there is none. */
export type Belief = 'right' | 'stale' | 'none';

export type RecordStep =
  | { do: 'putRecord'; tenant: string; id: string; belief: Belief; keepMs: number | null }
  | { do: 'removeRecord'; tenant: string; id: string; belief: Belief | 'any' }
  | { do: 'listRecords'; tenant: string; prefix: string; limit: number }
  | { do: 'takeLock'; name: string; owner: string; leaseMs: number }
  | { do: 'releaseLock'; name: string; owner: string; behind: number };

const id = fc.constantFrom('a', 'a#', 'a/b', 'é', '😀');
const belief = fc.constantFrom<Belief>('right', 'right', 'right', 'stale', 'none');
const name = fc.constantFrom('l1', 'l2');
const owner = fc.constantFrom('o1', 'o2', 'o3');

export const recordSteps = (
  tenant: fc.Arbitrary<string>,
): { weight: number; arbitrary: fc.Arbitrary<RecordStep> }[] => [
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('putRecord' as const),
      tenant,
      id,
      belief,
      keepMs: fc.constantFrom(null, null, 0, 400, 5000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('removeRecord' as const),
      tenant,
      id,
      belief: fc.constantFrom<Belief | 'any'>('any', 'any', 'right', 'stale'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('listRecords' as const),
      tenant,
      prefix: fc.constantFrom('', '', 'a', 'a#'),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('takeLock' as const),
      name,
      owner,
      leaseMs: fc.constantFrom(1, 400, 5000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('releaseLock' as const),
      name,
      owner,
      behind: fc.constantFrom(0, 0, 0, 1),
    }),
  },
];
