import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { classifyOutput } from './classify-output.ts';
import type { DecidedBy, ErrorClass } from './error-class.ts';

const stderrOf = (source: string): string =>
  spawnSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' }).stderr;

const REAL: readonly (readonly [source: string, ErrorClass, DecidedBy])[] = [
  ['undefined.x', 'programming', 'type'],
  ['JSON.parse("{")', 'parse', 'type'],
  ['const a = ;', 'programming', 'type'],
  ['import "waybill-no-such-package"', 'not_found', 'code'],
  ['import { readFileSync } from "node:fs"; readFileSync("/no/such/file")', 'not_found', 'code'],
  ['import { createRequire } from "node:module"; createRequire("/")("/no/such/file")', 'not_found', 'code'],
  ['await fetch("http://127.0.0.1:65533/")', 'network', 'code'],
  ['import { connect } from "node:net"; connect(65533, "127.0.0.1")', 'network', 'code'],
  ['AbortSignal.abort().throwIfAborted()', 'timeout', 'type'],
  ['throw Object.assign(new Error("400 rows"), { status: 503 })', 'server_error', 'status'],
  [
    'throw Object.assign(new Error("x"), { name: "SlowDown", $metadata: { httpStatusCode: 503 } })',
    'rate_limit',
    'code',
  ],
  ['throw Object.assign(new Error("x"), { severity: "ERROR", code: "23505" })', 'validation', 'code'],
  [
    'throw new Error("a", { cause: new Error("b", { cause: Object.assign(new Error("c"), { code: "EPIPE" }) }) })',
    'network',
    'code',
  ],
  ['throw "connect ECONNREFUSED 127.0.0.1:80"', 'network', 'text'],
  ['throw new Error("400 rows imported")', 'unknown', 'none'],
  ['console.error("\\x1b[31mTypeError: x is not a function\\x1b[0m"); process.exit(1)', 'programming', 'type'],
];

test.for(REAL)('a program that ends by: %s', ([source, expected, by]) => {
  expect(classifyOutput(stderrOf(source))).toMatchObject({ class: expected, by });
});

const traceback = (last: string): string => `Traceback (most recent call last):
  File "step.py", line 1, in <module>
    run()
${last}
`;

const PRINTED: readonly (readonly [stderr: string, ErrorClass, DecidedBy])[] = [
  ['TypeError: x is not a function', 'programming', 'type'],
  ['Error: connect ECONNREFUSED 127.0.0.1:80', 'network', 'text'],
  ['[TypeError: fetch failed]', 'network', 'text'],
  ['AggregateError [ECONNREFUSED]: \n    at x', 'network', 'code'],
  ['warming up\nfailed on try 1 of 3: connection refused\nTypeError: x is not a function\n', 'programming', 'type'],
  ['TypeError: x is not a function\ngoing on\ncurl: (7) Failed to connect to x port 80', 'network', 'text'],
  [`TypeError: x is not a function\n${'step\n'.repeat(40)}`, 'unknown', 'none'],
  [traceback("ModuleNotFoundError: No module named 'requests'"), 'not_found', 'type'],
  [traceback("KeyError: 'to'"), 'programming', 'type'],
  [traceback('KeyError'), 'programming', 'type'],
  [traceback('json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)'), 'parse', 'type'],
  [traceback('ConnectionRefusedError: [Errno 111] Connection refused'), 'network', 'type'],
  [traceback('urllib.error.URLError: <urlopen error [Errno 111] Connection refused>'), 'network', 'text'],
  [traceback('urllib.error.HTTPError: HTTP Error 503: Service Unavailable'), 'server_error', 'text'],
  [traceback('requests.exceptions.HTTPError: 404 Client Error: Not Found for url: http://x/'), 'not_found', 'text'],
  [traceback("anthropic.RateLimitError: Error code: 429 - {'type': 'error'}"), 'rate_limit', 'type'],
  [traceback('socket.timeout: timed out'), 'timeout', 'type'],
  [traceback('TimeoutError'), 'timeout', 'type'],
  [
    traceback('botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation'),
    'auth',
    'text',
  ],
  [traceback('ValueError: 400'), 'unknown', 'none'],
  ['bash: line 1: foo: command not found', 'not_found', 'text'],
  ['cat: x: No such file or directory', 'not_found', 'text'],
  ['curl: (22) The requested URL returned error: 404', 'not_found', 'text'],
  ['curl: (6) Could not resolve host: x.example', 'network', 'text'],
  ["fatal: Authentication failed for 'https://x.example/'", 'auth', 'text'],
  ['npm error code E404\nnpm error 404 Not Found - GET https://x.example/y', 'not_found', 'status'],
  ['npm error code ECONNREFUSED\nnpm error A complete log of this run can be found in: x', 'network', 'code'],
  ['npm error code E403\nnpm error A complete log of this run can be found in: x', 'auth', 'status'],
  ['Exception in thread "main" java.net.ConnectException: Connection refused', 'network', 'text'],
  [
    "RateLimitError: 429\n    at x {\n  status: 429,\n  headers: {\n    'retry-after': '3'\n  }\n}",
    'rate_limit',
    'status',
  ],
  [
    "NoSuchKey: The key does not exist.\n    at x {\n  '$fault': 'client',\n  Code: 'NoSuchKey'\n}",
    'not_found',
    'code',
  ],
  [
    "OddName: x\n    at x {\n  '$metadata': {\n    httpStatusCode: 503,\n    attempts: 3\n  }\n}",
    'server_error',
    'status',
  ],
  ['', 'unknown', 'none'],
  ['400 rows imported', 'unknown', 'none'],
  ['listening on port 5000\n', 'unknown', 'none'],
];

describe('what is on stderr:', () => {
  test.for(PRINTED)('%s', ([stderr, expected, by]) => {
    expect(classifyOutput(stderr)).toMatchObject({ class: expected, by });
    expect(classifyOutput(stderr.replaceAll('\n', '\r\n'))).toMatchObject({ class: expected, by });
  });

  test('a delay that a program printed is read', () => {
    const printed = "Error: x\n    at x {\n  status: 429,\n  headers: {\n    'retry-after': '3'\n  }\n}";
    expect(classifyOutput(printed).retryAfterMs).toBe(3_000);
  });

  test('the end of a huge output decides', () => {
    expect(classifyOutput(`${'TypeError: x\n'.repeat(100_000)}Error: read ECONNRESET`)).toMatchObject({
      class: 'network',
    });
  });
});
