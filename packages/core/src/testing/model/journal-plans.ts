import fc from 'fast-check';

export interface AppendPlan {
  /** Which lease appends: 0 is the newest that was given. */
  lease: number;
  by: 'token' | 'worker' | 'anyone';
  /** Where the batch begins, seen from what its run has come to: 1 is the next sequence. */
  from: number;
  count: number;
  /** How long ago its entries were made: they may be older than those before them. */
  agoMs: number;
  types: string[];
  weight: number;
  atMost: number | null;
}

export type JournalStep =
  | { do: 'append'; appends: AppendPlan[] }
  | {
      do: 'readJournal';
      lease: number;
      run: number | null;
      after: { run: number; sequence: number } | null;
      fromAgoMs: number | null;
      types: string[] | null;
      limit: number;
      maxBytes: number;
    };

const TYPES = ['output', 'out', 'a,b', '%', '"\\', 'ä'] as const;
const lease = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, fc.nat(60));
const agoMs = fc.constantFrom(0, 0, 400, 5000);

const appendPlan: fc.Arbitrary<AppendPlan> = fc.record({
  lease,
  by: fc.constantFrom('token', 'token', 'token', 'worker', 'anyone'),
  from: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: -3, max: 5 })),
  count: fc.integer({ min: 1, max: 4 }),
  agoMs,
  types: fc.subarray<string>([...TYPES], { minLength: 1, maxLength: 3 }),
  weight: fc.integer({ min: 1, max: 20 }),
  atMost: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constant(40)),
});

/** Null half of the time. */
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 1 });

export const journalSteps: { weight: number; arbitrary: fc.Arbitrary<JournalStep> }[] = [
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      appends: fc.array(appendPlan, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('readJournal' as const),
      lease,
      run: maybe(fc.integer({ min: 1, max: 3 })),
      after: maybe(fc.record({ run: fc.nat(3), sequence: fc.integer({ min: -1, max: 12 }) })),
      fromAgoMs: maybe(agoMs),
      types: maybe(fc.subarray<string>([...TYPES], { minLength: 1, maxLength: 3 })),
      limit: fc.integer({ min: 1, max: 4 }),
      maxBytes: fc.constantFrom(1, 20, 1_000_000),
    }),
  },
];
