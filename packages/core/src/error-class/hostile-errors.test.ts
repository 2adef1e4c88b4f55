import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classifyError } from './classify-error.ts';
import { classifyOutput } from './classify-output.ts';

const UNKNOWN = { class: 'unknown', retryable: undefined, by: 'none' };

const KEYS = ['name', 'message', 'code', 'status', 'type', 'cause', 'errors', 'error', 'headers', 'response', 'issues'];

test('what cannot be read is unknown', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  const callable = Proxy.revocable(() => {}, {});
  revoke();
  callable.revoke();
  const throwing = {};
  for (const key of [...KEYS, 'constructor', '$metadata', 'stack'])
    Object.defineProperty(throwing, key, { get: () => expect.unreachable(key), enumerable: true });
  for (const hostile of [proxy, callable.proxy, throwing, Object.create(null)]) {
    expect(classifyError(hostile)).toEqual(UNKNOWN);
    expect(classifyError(new Error('odd', { cause: hostile }))).toEqual(UNKNOWN);
    expect(classifyError(new AggregateError([hostile]))).toEqual(UNKNOWN);
  }
  expect(classifyError({ status: 503, headers: proxy, errors: proxy, issues: proxy })).toMatchObject({ by: 'status' });
});

test('cycles and endless chains of causes come to an end', () => {
  const cycle: Record<string, unknown> = { message: 'odd' };
  cycle['cause'] = cycle;
  cycle['errors'] = [cycle, { cause: cycle }];
  cycle['error'] = cycle;
  expect(classifyError(cycle)).toEqual(UNKNOWN);
  let made = 0;
  const endless = (): object => ({
    get cause() {
      made += 1;
      return endless();
    },
    get errors() {
      return Array.from({ length: 1_000 }, endless);
    },
  });
  expect(classifyError(endless())).toEqual(UNKNOWN);
  expect(made).toBeLessThan(1_000);
});

test('huge texts are cut before they are looked at', () => {
  for (const part of ['x', 'exceed ', 'ERROR ', ': ', 'a.', '"type": "', '1 ', 'time-out of ', '\n', ' code: ', '[']) {
    const huge = part.repeat(10_000_000 / part.length);
    classifyError(Object.assign(new Error(huge), { code: huge, stack: huge }));
    classifyError(huge);
    classifyOutput(huge);
    classifyOutput(`SomeError: ${huge}`);
  }
});

test('a stack that is full is no reason to throw', () => {
  const dive = (): unknown => {
    try {
      return dive();
    } catch {
      return classifyError({ status: 503 });
    }
  };
  expect(['server_error', 'unknown']).toContain((dive() as { class: string }).class);
});

const texts = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'ECONNRESET',
    'TypeError',
    'WaybillError',
    '23505',
    'rate_limit_error',
    'fetch failed',
    'HTTP 503',
    '9',
  ),
);
const anything = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
    texts,
    fc.integer({ min: 399, max: 601 }),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(...KEYS, 'stack', 'errcode', 'severity', 'details', 'retry-after', 'length'),
      tie('node'),
    ),
  ),
})).node;

test('anything at all has a class, the same each time', () => {
  fc.assert(
    fc.property(anything, fc.nat(), (error, now) => {
      const first = classifyError(error, now);
      expect(classifyError(error, now)).toEqual(first);
      expect(first.by === 'none').toBe(first.class === 'unknown' && first.by !== 'code' && first.by !== 'text');
      expect(first.retryAfterMs ?? 0).toBeLessThanOrEqual(86_400_000);
    }),
    { numRuns: 1_000 },
  );
});

test('any output has a class, the same each time', () => {
  const lines = fc.array(
    fc.oneof(fc.string(), fc.constantFrom('Error: x', '  [cause]: Error: y', "  code: 'EPIPE'", '}')),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        lines.map((each) => each.join('\n')),
        anything,
      ),
      (output) => {
        const first = classifyOutput(output as string, 0);
        expect(classifyOutput(output as string, 0)).toEqual(first);
      },
    ),
    { numRuns: 500 },
  );
});
