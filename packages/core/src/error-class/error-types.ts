import { byKey, type ErrorClass, firstIn, type Verdict } from './error-class.ts';
import { messageOf, namesOf, read, readItems, readText } from './safe-read.ts';

/** What an engine throws at a program with a defect. Some programs and libraries throw these on purpose, too. */
const PROGRAMMING = ['TypeError', 'ReferenceError', 'RangeError', 'EvalError', 'URIError', 'SyntaxError'];

const NAMES = byKey({
  timeout: ['AbortError', 'TimeoutError', 'APIConnectionTimeoutError', 'APIUserAbortError', 'ConnectTimeoutError'],
  network: ['APIConnectionError', 'NetworkError', 'ConnectionError'],
  rate_limit: ['RateLimitError', 'TooManyRequestsError'],
  auth: [
    ...['AuthenticationError', 'AuthorizationError', 'UnauthorizedError', 'ForbiddenError', 'PermissionDeniedError'],
    ...['NotAllowedError'],
  ],
  validation: [
    ...['ZodError', '$ZodError', 'ValiError', 'ValidationError', 'SchemaError', 'BadRequestError'],
    ...['UnprocessableEntityError'],
  ],
  parse: ['ParseError', 'JSONParseError'],
  not_found: ['NotFoundError'],
  programming: PROGRAMMING,
});

/** Names that programs in Python leave on stderr, and that mean the same wherever else they are used. */
const PYTHON = byKey({
  programming: [
    ...['NameError', 'UnboundLocalError', 'AttributeError', 'KeyError', 'IndexError', 'ZeroDivisionError'],
    ...['ImportError', 'IndentationError', 'TabError', 'RecursionError', 'NotImplementedError'],
  ],
  not_found: ['ModuleNotFoundError', 'FileNotFoundError'],
  auth: ['PermissionError'],
  parse: ['JSONDecodeError'],
  timeout: ['ReadTimeout', 'ConnectTimeout', 'WriteTimeout', 'Timeout', 'ReadTimeoutError', 'timeout'],
  network: [
    ...['ConnectionRefusedError', 'ConnectionResetError', 'ConnectionAbortedError', 'BrokenPipeError', 'ConnectError'],
    ...['NewConnectionError', 'MaxRetryError', 'RemoteDisconnected', 'gaierror', 'SSLCertVerificationError'],
  ],
});

/** What `fetch` throws, always as a TypeError, where the request failed. Browsers have words of their own. */
const FAILED_FETCH = new Set([
  'fetch failed',
  'terminated',
  'Failed to fetch',
  'NetworkError when attempting to fetch resource.',
  'Load failed',
]);

export interface TypeVerdict extends Verdict {
  /** The causes are asked first, because an error with a cause was made to wrap another one. */
  isWeak: boolean;
}

/** What an error says by the name of its class. */
export function verdictOfType(error: unknown): TypeVerdict | undefined {
  const names = namesOf(error);
  if (names.includes('SyntaxError') && isFromJson(error)) return { class: 'parse', by: 'type', isWeak: false };
  const found: ErrorClass | undefined =
    firstIn(NAMES, names) ?? firstIn(PYTHON, names) ?? (hasIssues(error) ? 'validation' : undefined);
  if (found === undefined) return undefined;
  if (found !== 'programming') return { class: found, by: 'type', isWeak: false };
  if (FAILED_FETCH.has(messageOf(error))) return undefined;
  // V8 sets no cause on the errors that it throws by itself.
  return { class: found, by: 'type', isWeak: read(error, 'cause') !== undefined };
}

/** `JSON.parse` says the position, or stands on top of the stack; other syntax errors are in the program. */
function isFromJson(error: unknown): boolean {
  return /\bJSON\b/.test(messageOf(error)) || /^\s*at JSON\.parse /m.test(readText(error, 'stack'));
}

/** A failure of a Standard Schema, thrown as it is or inside of an error. */
function hasIssues(error: unknown): boolean {
  const issues = readItems(error, 'issues');
  return issues.length > 0 && issues.every((issue) => typeof read(issue, 'message') === 'string');
}
