import fc from 'fast-check';
import type { Json } from '../json.ts';
import type { JobOverrides } from './factories.ts';
import { TEST_EPOCH } from './test-clock.ts';

/** Any JSON that enqueue lets through, in the form in which JSON text brings it back (no -0). */
export const anyJson = (): fc.Arbitrary<Json> =>
  fc
    .json({ maxDepth: 3 })
    .filter((text) => !text.includes('__proto__'))
    .map((text) => JSON.parse(text) as Json)
    .map((value) => JSON.parse(JSON.stringify(value)) as Json);

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });
const length = fc.integer({ min: 1, max: 600_000 });

/** Everything about an available, unlimited job that a claim reads, keeps or writes over; some have expired. */
export const anyOverrides = (): fc.Arbitrary<JobOverrides> =>
  fc.record({
    type: fc.constantFrom('test.job', 'email.send'),
    priority: fc.integer({ min: -100, max: 100 }),
    run: fc.nat(1000),
    attempt: fc.nat(10),
    maxAttempts: fc.nat(10),
    claimId: maybe(fc.constant('earlier')),
    workerId: maybe(fc.constant('worker-0')),
    leaseMs: maybe(length),
    outcome: fc.constantFrom(null, 'failed', 'lost', 'snoozed', 'requeued'),
    timeoutMs: maybe(length),
    visibilityMs: maybe(length),
    startedAt: maybe(fc.constant(TEST_EPOCH - 5000)),
    expiresAt: maybe(fc.integer({ min: -1000, max: 600_000 }).map((ms) => TEST_EPOCH + ms)),
    retryDelayMs: maybe(length),
    errors: fc.array(
      fc.record({
        code: fc.string({ maxLength: 10 }),
        message: fc.string({ maxLength: 10, unit: 'grapheme' }),
        attempt: fc.nat(10),
        run: fc.nat(10),
        occurredAt: fc.constant(TEST_EPOCH - 1000),
      }),
      { maxLength: 3 },
    ),
    uniqueKey: maybe(fc.string({ maxLength: 20 })),
    spec: fc.record({
      args: fc.array(anyJson(), { maxLength: 3 }),
      meta: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), anyJson()),
    }),
  });
