import { describe, expect, test } from 'vitest';
import type { WaybillError } from '../errors.ts';
import { checkEnvelope } from './envelope.ts';

const NOW = Date.UTC(2030, 0, 1);
const minimal = { type: 'email.send', args: [] };

function refusalOf(request: unknown): WaybillError {
  try {
    checkEnvelope(request, NOW);
  } catch (error) {
    return error as WaybillError;
  }
  throw new Error('was accepted');
}

test('a minimal request gets the documented defaults', () => {
  expect(checkEnvelope(minimal, NOW)).toMatchObject({
    id: undefined,
    queue: 'default',
    priority: 0,
    timeoutMs: null,
    visibilityMs: null,
    scheduledAt: null,
    expiresAt: null,
    pending: false,
    spec: { args: [], meta: {} },
  });
});

test('unknown fields are kept, system-managed ones are ignored', () => {
  const { spec } = checkEnvelope({ ...minimal, x_mine: { deep: [1] }, state: 'completed', result: 1, attempt: 9 }, NOW);
  expect(spec.extra).toEqual({ x_mine: { deep: [1] } });
});

test('options without a column are kept as sent', () => {
  const { spec } = checkEnvelope(
    { ...minimal, options: { priority: 1, unique: { keys: ['type'] }, metadata: { a: 1 } } },
    NOW,
  );
  expect(spec.options).toEqual({ unique: { keys: ['type'] }, metadata: { a: 1 } });
});

test('options may also stand at the top; those in options win', () => {
  const request = { ...minimal, queue: 'top', priority: 3, scheduled_at: '+PT2S', options: { queue: 'inside' } };
  expect(checkEnvelope(request, NOW)).toMatchObject({ queue: 'inside', priority: 3, scheduledAt: NOW + 2_000 });
});

test('times may be absolute or counted from now, and null means absent', () => {
  const options = { scheduled_at: '+PT2S', expires_at: '2030-01-01T01:00:00+01:00', priority: null };
  expect(checkEnvelope({ ...minimal, options }, NOW)).toMatchObject({
    scheduledAt: NOW + 2_000,
    expiresAt: NOW,
    priority: 0,
  });
});

describe('refuses', () => {
  const id = '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
  test.each<[string, unknown, string]>([
    ['no object', [], 'body'],
    ['no type', { args: [] }, 'type'],
    ['an empty type', { type: '', args: [] }, 'type'],
    ['a type in upper case', { type: 'Email.Send', args: [] }, 'type'],
    ['a type that is no string', { type: 7, args: [] }, 'type'],
    ['a type that begins with a digit', { type: '1email', args: [] }, 'type'],
    ['a type that is too long', { type: `a${'b'.repeat(300)}`, args: [] }, 'type'],
    ['no args', { type: 'a.b' }, 'args'],
    ['args that are no array', { type: 'a.b', args: {} }, 'args'],
    ['a version 4 id', { ...minimal, id: '550e8400-e29b-41d4-a716-446655440000' }, 'id'],
    ['an id in upper case', { ...minimal, id: id.toUpperCase() }, 'id'],
    ['meta that is no object', { ...minimal, meta: [] }, 'meta'],
    ['options that are no object', { ...minimal, options: 'fast' }, 'options'],
    ['a queue in upper case', { ...minimal, options: { queue: 'Default' } }, 'options.queue'],
    ['a queue that is too long', { ...minimal, options: { queue: 'q'.repeat(129) } }, 'options.queue'],
    ['a priority out of range', { ...minimal, options: { priority: 101 } }, 'options.priority'],
    ['a priority with a fraction', { ...minimal, options: { priority: 1.5 } }, 'options.priority'],
    ['a timeout of zero', { ...minimal, options: { timeout_ms: 0 } }, 'options.timeout_ms'],
    ['a negative visibility', { ...minimal, options: { visibility_timeout_ms: -1 } }, 'options.visibility_timeout_ms'],
    ['a time without zone', { ...minimal, options: { scheduled_at: '2030-01-01T00:00:00' } }, 'options.scheduled_at'],
    ['a negative delay', { ...minimal, options: { scheduled_at: '+-PT5S' } }, 'options.scheduled_at'],
    [
      'a day that does not exist',
      { ...minimal, options: { expires_at: '2030-13-45T00:00:00Z' } },
      'options.expires_at',
    ],
    [
      'a time in the far future',
      { ...minimal, options: { delay_until: '9999-01-01T00:00:00Z' } },
      'options.delay_until',
    ],
    [
      'two names for one time',
      { ...minimal, options: { delay_until: '+PT1S', scheduled_at: '+PT1S' } },
      'options.delay_until',
    ],
    ['tags that are no strings', { ...minimal, options: { tags: ['a', 1] } }, 'options.tags[1]'],
  ])('%s', (_, request, field) => {
    expect(refusalOf(request)).toMatchObject({ code: 'invalid_request', details: { field } });
  });

  test.each<[string, Record<string, unknown>]>([
    ['max_attempts', { max_attempts: -1 }],
    ['max_attempts', { max_attempts: 1.5 }],
    ['backoff_coefficient', { backoff_coefficient: 0.5 }],
    ['initial_interval', { initial_interval: '1s' }],
    ['initial_interval', { initial_interval: 'P1M' }],
    ['max_interval', { max_interval: 5 }],
    ['backoff_strategy', { backoff_strategy: 'hopeful' }],
    ['jitter', { jitter: 'yes' }],
    ['non_retryable_errors', { non_retryable_errors: 'all' }],
    ['on_exhaustion', { on_exhaustion: 'explode' }],
    ['max_retries', { max_retries: 3 }],
  ])('a retry policy with a bad %s', (field, retry) => {
    const refusal = refusalOf({ ...minimal, options: { retry } });
    expect(refusal.code).toBe('validation_error');
    expect(refusal.message).toContain(field);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['C3: a misspelt field', { max_atempts: 3 }, "Did you mean 'max_attempts'?"],
    ['C3: camel case', { maxAttempts: 3 }, "Did you mean 'max_attempts'?"],
    ['C3: two lengths of one interval', { initial_interval: 'PT1S', initial_interval_ms: 5 }, 'contradicts'],
    ['C3: an interval below a millisecond', { initial_interval_ms: 0.5 }, 'must be an integer'],
    ['C8: no first interval', { initial_interval: 'PT0S' }, 'must be longer than nothing'],
    ['C8: no first interval in milliseconds', { initial_interval_ms: 0 }, 'must be longer than nothing'],
    ['C8: a cap of nothing', { max_interval: 'PT0S' }, 'must be longer than nothing'],
    ['C8: a cap below the first interval', { initial_interval: 'PT2S', max_interval: 'PT1S' }, 'must not be shorter'],
    ['C8: such a cap in milliseconds', { initial_interval_ms: 2_000, max_interval_ms: 1_999 }, 'must not be shorter'],
  ])('%s', (_, retry, message) => {
    const refusal = refusalOf({ ...minimal, options: { retry } });
    expect(refusal.code).toBe('validation_error');
    expect(refusal.message).toContain(message);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['C8: another version of the specification', { specversion: '2.0' }, 'specversion'],
    ['C8: a version that is no text', { specversion: 1 }, 'specversion'],
    ['C8: a timeout that contradicts itself', { timeout: 3, options: { timeout_ms: 3_001 } }, 'options.timeout'],
    ['C8: a negative timeout', { timeout: -1 }, 'options.timeout'],
  ])('%s', (_, more, field) => {
    expect(refusalOf({ ...minimal, ...more })).toMatchObject({ code: 'invalid_request', details: { field } });
  });
});

test('C3: intervals in milliseconds are kept as sent, and as the durations that the policy goes by', () => {
  const sent = { max_attempts: 5, initial_interval_ms: 500, max_interval_ms: 60_000 };
  const { spec, maxAttempts } = checkEnvelope({ ...minimal, options: { retry: sent } }, NOW);
  expect(spec.retry).toEqual({ ...sent, initial_interval: 'PT0.5S', max_interval: 'PT60S' });
  expect(maxAttempts).toBe(5);
  const suites = { strategy: 'constant', initial_delay_ms: 100 };
  expect(checkEnvelope({ ...minimal, options: { retry: suites } }, NOW).spec.retry).toEqual({
    ...{ ...suites, backoff_strategy: 'constant', initial_interval: 'PT0.1S' },
  });
});

test('C8: timeouts of the envelope are in seconds, and none of their own is no limit', () => {
  const read = (more: object) => checkEnvelope({ ...minimal, ...more }, NOW);
  expect(read({ timeout: 30, visibility_timeout: 45 })).toMatchObject({ timeoutMs: 30_000, visibilityMs: 45_000 });
  expect(read({ timeout: 30, options: { timeout_ms: 30_000 } })).toMatchObject({ timeoutMs: 30_000 });
  expect(read({ timeout: 0 })).toMatchObject({ timeoutMs: null });
  expect(read({ specversion: '1.0' }).spec.extra).toBeUndefined();
});

test('a retry policy that differs from one that was checked before by its types alone is checked by itself', () => {
  const retryOf = (retry: unknown) => checkEnvelope({ type: 'a.b', args: [], options: { retry } }, 0).spec.retry;
  const sent = { max_attempts: 3, jitter: true, backoff_strategy: 'linear' };
  expect(retryOf(sent)).toEqual(sent);
  expect(retryOf({ ...sent })).toEqual(sent);
  expect(retryOf({ ...sent, max_attempts: null })).toEqual({ jitter: true, backoff_strategy: 'linear' });
  const wrong = [
    { ...sent, max_attempts: '3' },
    { ...sent, max_attempts: Number.NaN },
    { ...sent, max_attempts: 3n },
    { ...sent, jitter: 'true' },
    { ...sent, max_attempts: [3] },
    { max_attempts: 3, 'jitter boolean 4 true 16 backoff_strategy': 'linear' },
    [],
    'linear',
  ];
  for (const retry of wrong) expect(() => retryOf(retry)).toThrow();
});
