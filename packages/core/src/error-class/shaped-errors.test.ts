import { describe, expect, test } from 'vitest';
import { ERROR_CODES, WaybillError } from '../errors.ts';
import { classifyError } from './classify-error.ts';
import type { DecidedBy, ErrorClass } from './error-class.ts';

type Row = readonly [title: string, error: unknown, ErrorClass, DecidedBy];

const shaped = (fields: Record<string, unknown>, message = 'odd'): Error => Object.assign(new Error(message), fields);

/** As the AWS SDK throws it. */
const aws = (name: string, httpStatusCode: number): Error =>
  shaped({ name, $fault: 'client', $metadata: { httpStatusCode, attempts: 3 } });

/** As the Anthropic SDK throws it: the name, the status, and the body of the answer. */
const anthropic = (name: string, status: number | undefined, type: string): Error =>
  shaped({ name, status, type, error: { type: 'error', error: { type, message: 'm' } } }, `${status} {}`);

const postgres = (code: string): Error => shaped({ name: 'error', severity: 'ERROR', code, routine: 'x' });

const named = (name: string, message = 'odd'): Error => shaped({ name }, message);

const CODES: readonly Row[] = [
  ['ECONNRESET', shaped({ code: 'ECONNRESET' }), 'network', 'code'],
  ['ENOTFOUND', shaped({ code: 'ENOTFOUND' }), 'network', 'code'],
  ['EPIPE', shaped({ code: 'EPIPE' }), 'network', 'code'],
  ['EAI_AGAIN', shaped({ code: 'EAI_AGAIN' }), 'network', 'code'],
  ['ETIMEDOUT', shaped({ code: 'ETIMEDOUT' }), 'timeout', 'code'],
  ['TIMEOUT', shaped({ code: 'TIMEOUT' }), 'timeout', 'code'],
  ['ABORT_ERR', shaped({ code: 'ABORT_ERR', name: 'AbortError' }), 'timeout', 'code'],
  ['UND_ERR_SOCKET', shaped({ code: 'UND_ERR_SOCKET' }), 'network', 'code'],
  ['UND_ERR_HEADERS_TIMEOUT', shaped({ code: 'UND_ERR_HEADERS_TIMEOUT' }), 'timeout', 'code'],
  ['an expired certificate', shaped({ code: 'CERT_HAS_EXPIRED' }), 'network', 'code'],
  ['an unknown issuer', shaped({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }), 'network', 'code'],
  ['an answer that is no HTTP', shaped({ code: 'HPE_INVALID_CONSTANT' }), 'network', 'code'],
  ['EACCES', shaped({ code: 'EACCES' }), 'auth', 'code'],
  ['MODULE_NOT_FOUND', shaped({ code: 'MODULE_NOT_FOUND' }), 'not_found', 'code'],
  ['a full disk', shaped({ code: 'ENOSPC' }), 'unknown', 'none'],
  ['a code before the status', shaped({ code: 'ECONNRESET', status: 400 }), 'network', 'code'],
  ['a code before the type', Object.assign(new TypeError('x'), { code: 'EPIPE' }), 'network', 'code'],
  ['a code before the text', shaped({ code: 'ECONNREFUSED' }, 'Unauthorized: HTTP 401'), 'network', 'code'],
  ['AWS: throttling under the status 400', aws('ThrottlingException', 400), 'rate_limit', 'code'],
  ['AWS: S3 is too busy', aws('SlowDown', 503), 'rate_limit', 'code'],
  ['AWS: throughput', aws('ProvisionedThroughputExceededException', 400), 'rate_limit', 'code'],
  ['AWS: SQS throttles', aws('KmsThrottled', 400), 'rate_limit', 'code'],
  ['AWS: a trait', shaped({ $retryable: { throttling: true } }), 'rate_limit', 'code'],
  ['AWS: access denied', aws('AccessDeniedException', 400), 'auth', 'code'],
  ['AWS: expired token', aws('ExpiredTokenException', 400), 'auth', 'code'],
  ['AWS: S3 signature', aws('SignatureDoesNotMatch', 403), 'auth', 'code'],
  ['AWS: validation', aws('ValidationException', 400), 'validation', 'code'],
  ['AWS: no such key', aws('NoSuchKey', 404), 'not_found', 'code'],
  ['AWS: no such table', aws('ResourceNotFoundException', 400), 'not_found', 'code'],
  ['AWS: no such queue', aws('QueueDoesNotExist', 400), 'not_found', 'code'],
  ['AWS: a lost race', aws('ConditionalCheckFailedException', 400), 'unknown', 'code'],
  ['AWS: internal', aws('InternalServerError', 500), 'server_error', 'code'],
  ['AWS: a name that is not known', aws('OddException', 503), 'server_error', 'status'],
  ['AWS: the old SDK', shaped({ code: 'Throttling', statusCode: 400 }), 'rate_limit', 'code'],
  ['Anthropic: rate limit', anthropic('RateLimitError', 429, 'rate_limit_error'), 'rate_limit', 'code'],
  ['Anthropic: overloaded', anthropic('InternalServerError', 529, 'overloaded_error'), 'server_error', 'code'],
  ['Anthropic: within a stream', anthropic('APIError', undefined, 'overloaded_error'), 'server_error', 'code'],
  ['Anthropic: key', anthropic('AuthenticationError', 401, 'authentication_error'), 'auth', 'code'],
  ['Anthropic: permission', anthropic('PermissionDeniedError', 403, 'permission_error'), 'auth', 'code'],
  ['Anthropic: request', anthropic('BadRequestError', 400, 'invalid_request_error'), 'validation', 'code'],
  ['Anthropic: model', anthropic('NotFoundError', 404, 'not_found_error'), 'not_found', 'code'],
  ['Anthropic: api', anthropic('InternalServerError', 500, 'api_error'), 'server_error', 'code'],
  ['Anthropic: the body alone', { type: 'error', error: { type: 'timeout_error' } }, 'timeout', 'code'],
  ['Anthropic: no connection', named('APIConnectionError', 'Connection error.'), 'network', 'type'],
  ['PostgreSQL: a unique key', postgres('23505'), 'validation', 'code'],
  ['PostgreSQL: a syntax error', postgres('42601'), 'programming', 'code'],
  ['PostgreSQL: no permission', postgres('42501'), 'auth', 'code'],
  ['PostgreSQL: a wrong password', postgres('28P01'), 'auth', 'code'],
  ['PostgreSQL: a serialization failure', postgres('40001'), 'server_error', 'code'],
  ['PostgreSQL: a statement timeout', postgres('57014'), 'timeout', 'code'],
  ['PostgreSQL: shut down', postgres('57P01'), 'server_error', 'code'],
  ['PostgreSQL: a connection failure', postgres('08006'), 'network', 'code'],
  ['PostgreSQL: too many connections', postgres('53300'), 'server_error', 'code'],
  ['PostgreSQL: raised by a function', postgres('P0001'), 'unknown', 'none'],
  ['five characters without a severity', shaped({ code: '23505' }), 'unknown', 'none'],
  ['a busy SQLite', shaped({ code: 'ERR_SQLITE_ERROR', errcode: 261 }), 'timeout', 'code'],
  ['a refusal by name and code', { name: 'WaybillError', code: 'forbidden' }, 'auth', 'code'],
  ['the same code without the name', shaped({ code: 'forbidden' }), 'unknown', 'none'],
  ['internal, around a defect', WaybillError.from(new TypeError('x')), 'programming', 'type'],
  ['internal, around what is not known', WaybillError.from(new Error('odd')), 'server_error', 'code'],
];

const STATUSES: readonly Row[] = [
  ...(
    [
      [400, 'validation'],
      [401, 'auth'],
      [403, 'auth'],
      [404, 'not_found'],
      [408, 'timeout'],
      [422, 'validation'],
      [429, 'rate_limit'],
      [500, 'server_error'],
      [504, 'server_error'],
      [529, 'server_error'],
    ] as const
  ).map(([status, expected]): Row => [`status ${status}`, shaped({ status }), expected, 'status']),
  ['status 409', shaped({ status: 409 }), 'unknown', 'none'],
  ['status 200', shaped({ status: 200 }), 'unknown', 'none'],
  ['an exit code', shaped({ status: 1 }), 'unknown', 'none'],
  ['a status in words', shaped({ status: '500' }), 'unknown', 'none'],
  ['statusCode', shaped({ statusCode: 429 }), 'rate_limit', 'status'],
  ['$metadata', shaped({ $metadata: { httpStatusCode: 403 } }), 'auth', 'status'],
  ['axios', shaped({ code: 'ERR_BAD_RESPONSE', response: { status: 502 } }), 'server_error', 'status'],
  ['got', shaped({ response: { statusCode: 404 } }), 'not_found', 'status'],
  ['a status before the type', Object.assign(new TypeError('x'), { status: 503 }), 'server_error', 'status'],
  ['a status before the text', shaped({ status: 503 }, 'Unauthorized'), 'server_error', 'status'],
];

const TYPES: readonly Row[] = [
  ['AbortError', new DOMException('x', 'AbortError'), 'timeout', 'type'],
  ['TimeoutError', new DOMException('x', 'TimeoutError'), 'timeout', 'type'],
  ['EvalError', new EvalError('x'), 'programming', 'type'],
  ['a subclass of TypeError', new (class extends TypeError {})('x'), 'programming', 'type'],
  ['a class without a name of its own', new (class RateLimitError extends Error {})('x'), 'rate_limit', 'type'],
  ['ValidationError', named('ValidationError'), 'validation', 'type'],
  ['AuthenticationError', named('AuthenticationError'), 'auth', 'type'],
  ['a failed Standard Schema', { issues: [{ message: 'Expected string', path: ['to'] }] }, 'validation', 'type'],
  ['issues that are none', { issues: [1, 2] }, 'unknown', 'none'],
  ['a type before the text', new TypeError('connect ECONNREFUSED'), 'programming', 'type'],
];

const CAUSES: readonly Row[] = [
  ['a cause', new Error('odd', { cause: shaped({ code: 'ECONNRESET' }) }), 'network', 'code'],
  [
    'a cause of a cause',
    new Error('a', { cause: new Error('b', { cause: new TypeError('c') }) }),
    'programming',
    'type',
  ],
  ['a cause that is plain', new Error('odd', { cause: { status: 429 } }), 'rate_limit', 'status'],
  [
    'a cause behind fetch failed',
    new TypeError('fetch failed', { cause: shaped({ code: 'EPIPE' }) }),
    'network',
    'code',
  ],
  ['fetch failed alone', new TypeError('fetch failed'), 'network', 'text'],
  ['a TypeError around a network error', new TypeError('x', { cause: shaped({ code: 'EPIPE' }) }), 'network', 'code'],
  ['a TypeError around what is not known', new TypeError('x', { cause: new Error('odd') }), 'programming', 'type'],
  ['the own code before that of the cause', shaped({ code: 'EPIPE', cause: new TypeError('x') }), 'network', 'code'],
  ['a cause before the text', new Error('request timed out', { cause: new TypeError('x') }), 'programming', 'type'],
  ['several errors', new AggregateError([new TypeError('x'), shaped({ status: 503 })]), 'server_error', 'status'],
  ['the text of a cause', new Error('odd', { cause: new Error('socket hang up') }), 'network', 'text'],
  ['deeper than we look', nested(20, shaped({ code: 'EPIPE' })), 'unknown', 'none'],
];

function nested(depth: number, cause: Error): Error {
  return depth === 0 ? cause : new Error('odd', { cause: nested(depth - 1, cause) });
}

const TEXTS: readonly (readonly [text: string, ErrorClass])[] = [
  ['connect ECONNREFUSED 127.0.0.1:400', 'network'],
  ['getaddrinfo ENOTFOUND api.example.com', 'network'],
  ["ENOENT: no such file or directory, open 'x'", 'not_found'],
  ['Could not send: socket hang up', 'network'],
  ['Connection terminated unexpectedly', 'network'],
  ['timeout of 5000ms exceeded', 'timeout'],
  ['The operation timed out after 400 ms', 'timeout'],
  ['Request failed with status code 503', 'server_error'],
  ['Request failed with status code 401.', 'auth'],
  ['API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'server_error'],
  ['429 {"type":"error","error":{"type":"rate_limit_error"}}', 'rate_limit'],
  ['HTTP Error 404: Not Found', 'not_found'],
  ['404 Not Found', 'not_found'],
  ['Upload: 400 Bad Request', 'validation'],
  ['Rate limit exceeded, try again', 'rate_limit'],
  ['An error occurred (ThrottlingException) when calling the X operation', 'rate_limit'],
  ['Unauthorized', 'auth'],
  ['Login: invalid API key', 'auth'],
  ['Validation failed: to is required', 'validation'],
  ['Unexpected end of JSON input', 'parse'],
  ["Cannot read properties of undefined (reading 'x')", 'programming'],
  // Numbers and words that mean something else.
  ['400 rows imported', 'unknown'],
  ['port 5000', 'unknown'],
  ['Row 404 has no price', 'unknown'],
  ['429', 'unknown'],
  ['Error 500 items were skipped', 'unknown'],
  ['the answer had 503 lines', 'unknown'],
  ['With status code 400 rows were read', 'unknown'],
  ['HTTP 40015', 'unknown'],
  ['Found a forbidden character', 'unknown'],
  ['The list of unauthorized users is empty', 'unknown'],
  ['Page not found in the index of 404 pages', 'unknown'],
  ['Set the timeout to 500', 'unknown'],
  ['ERROR 42', 'unknown'],
  ['', 'unknown'],
];

describe.each([
  ['codes', CODES],
  ['statuses', STATUSES],
  ['types', TYPES],
  ['causes', CAUSES],
] as const)('by %s:', (_, rows) => {
  test.for(rows)('%s', ([, error, expected, by]) => {
    expect(classifyError(error)).toMatchObject({ class: expected, by });
  });
});

test.for(TEXTS)('by text: %s', ([text, expected]) => {
  const by = expected === 'unknown' ? 'none' : 'text';
  expect(classifyError(new Error(text))).toMatchObject({ class: expected, by });
  expect(classifyError(text)).toMatchObject({ class: expected, by });
});

test('what is retried follows from the class, and what is not known is left to the retry policy', () => {
  const retryable = (error: unknown) => classifyError(error).retryable;
  for (const status of [400, 401, 404]) expect(retryable({ status })).toBe(false);
  for (const error of [new TypeError('x'), named('ParseError')]) expect(retryable(error)).toBe(false);
  for (const status of [408, 429, 500]) expect(retryable({ status })).toBe(true);
  expect(retryable({ code: 'EPIPE' })).toBe(true);
  for (const error of [undefined, null, 404, '404', 404n, Symbol('x'), {}, [], () => 404, new Error('odd')]) {
    expect(classifyError(error)).toEqual({ class: 'unknown', retryable: undefined, by: 'none' });
  }
});

/** What lost a race, or waits for an operator. */
const LEFT_TO_POLICY = ['conflict', 'duplicate', 'lease_lost', 'queue_paused'];

test('a refusal is retried where it says so itself, and one that may pass is not given up', () => {
  for (const code of ERROR_CODES) {
    const error = new WaybillError(code, 'odd');
    const expected = error.retryable || code === 'internal' ? true : LEFT_TO_POLICY.includes(code) ? undefined : false;
    expect(classifyError(error).retryable, code).toBe(expected);
  }
});
