import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, type Format } from 'esbuild';
import { startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { hasJava } from '../packages/aws/src/testing/local-dynamo.ts';
import { postgresUrl, tempSchema } from '../packages/sql/src/postgres/testing/server.ts';
import { sharedAddress } from '../packages/sql/src/postgres/testing/shared-server.ts';
import { embed } from './embed.mjs';

const run = promisify(execFile);

/** What esbuild's own documents give for packages of CommonJS in a bundle of ES modules. */
const WITH_REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

beforeAll(embed);

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const made = new Map<string, Promise<string>>();

/** One file in a folder without node_modules, made of an entry in `scripts/bundle` and everything that it imports. */
function bundled(entry: string, format: Format, banner = ''): Promise<string> {
  const key = [entry, format, banner].join();
  const file = made.get(key) ?? bundle(entry, format, banner);
  made.set(key, file);
  return file;
}

async function bundle(entry: string, format: Format, banner: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-bundle-'));
  folders.push(folder);
  const file = path.join(folder, format === 'esm' ? 'main.mjs' : 'main.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL(`./bundle/${entry}`, import.meta.url))],
    ...{ outfile: file, format, bundle: true, platform: 'node', target: 'node22', banner: { js: banner } },
    logOverride: { 'empty-import-meta': 'silent' },
  });
  expect(await readdir(folder)).toEqual([path.basename(file)]);
  return file;
}

/** A process in the folder of the file; answers what it prints. */
async function runs(file: string, env: Record<string, string>, args: string[] = []): Promise<unknown> {
  const { PATH = '' } = process.env;
  const { stdout } = await run(process.execPath, [file, ...args], { cwd: path.dirname(file), env: { PATH, ...env } });
  return JSON.parse(stdout);
}

test.each<[Format, string]>([
  ['esm', WITH_REQUIRE],
  ['cjs', ''],
])('D8: an application in one file (%s) works on SQLite, in a thread', async (format, banner) => {
  const file = await bundled('application.mjs', format, banner);
  const store = `sqlite:${path.join(path.dirname(file), 'jobs.db')}`;
  expect(await runs(file, { WAYBILL_STORE: store })).toEqual({ result: 'hello ada', threads: 1 });
});

test.each<[Format, string]>([
  ['esm', WITH_REQUIRE],
  ['cjs', ''],
])('D8: an application in one file (%s) works on PostgreSQL', async (format, banner) => {
  const file = await bundled('application.mjs', format, banner);
  const url = new URL(await postgresUrl());
  url.searchParams.set('schema', tempSchema(url.href));
  expect(await runs(file, { WAYBILL_STORE: url.href })).toEqual({ result: 'hello ada', threads: 0 });
});

test.each<[Format, string]>([
  ['esm', WITH_REQUIRE],
  ['cjs', ''],
])('an application in one file (%s) runs a module in a process of its own', async (format, banner) => {
  const file = await bundled('isolated.mjs', format, banner);
  const handler = path.join(path.dirname(file), 'handler.mjs');
  writeFileSync(handler, "export default ({ name }) => ({ greeting: 'hello ' + name, pid: process.pid });");
  expect(await runs(file, { HANDLER: handler })).toEqual({ greeting: 'hello ada', isOwnProcess: true });
});

test('D8: a bundle in which pg finds no require says so, and not that pg is not installed', async () => {
  const file = await bundled('application.mjs', 'esm');
  const failure = await runs(file, { WAYBILL_STORE: 'postgres://127.0.0.1:1/none' }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ stderr: expect.stringMatching(/could not be loaded: Dynamic require of/) });
  expect(failure).toMatchObject({ stderr: expect.stringContaining('createRequire of node:module') });
});

test.skipIf(!hasJava && process.env['CI'] !== 'true')(
  'D8: the Lambda function in one file works on DynamoDB and SQS (skipped: needs Java 17)',
  async () => {
    const sqs = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
    onTestFinished(() => sqs.stop());
    const dynamo = process.env['WAYBILL_TEST_DYNAMODB'] ?? (await sharedAddress(inject('dynamoAddressUrl')));
    const name = `t${randomUUID().replaceAll('-', '').slice(0, 12)}`;
    const env = {
      ...{ AWS_ACCESS_KEY_ID: name, AWS_SECRET_ACCESS_KEY: 'local', AWS_REGION: 'us-east-1' },
      WAYBILL_STORE: `dynamodb://us-east-1/${name}?endpoint=${dynamo}`,
      WAYBILL_TRANSPORT: `sqs://us-east-1/${name}?endpoint=${sqs.address}`,
    };
    const application = await bundled('application.mjs', 'cjs');
    const { id } = (await runs(application, env, ['--enqueue-only'])) as { id: string };
    const queue = `${name}-greetings-default`;
    const messages = sqs.inspectQueue(queue)?.messages.ready ?? [];
    expect(messages).toHaveLength(1);

    const file = await bundled('function.mjs', 'cjs');
    const event = {
      Records: messages.map(({ messageId, body }) => ({
        ...{ messageId, body, receiptHandle: `receipt-${messageId}`, messageAttributes: {} },
        ...{ eventSource: 'aws:sqs', eventSourceARN: `arn:aws:sqs:us-east-1:0:${queue}` },
        attributes: { ApproximateReceiveCount: '1' },
      })),
    };
    const caller = path.join(path.dirname(file), 'caller.cjs');
    writeFileSync(
      caller,
      `const context = { getRemainingTimeInMillis: () => 60_000 };
      require('./main.cjs').handler(${JSON.stringify(event)}, context).then((answer) => {
        process.stdout.write(JSON.stringify(answer), () => process.exit(0));
      });`,
    );
    expect(await runs(caller, env)).toEqual({ batchItemFailures: [] });
    expect(await runs(application, env, ['--show', id])).toMatchObject({ state: 'completed', result: 'hello ada' });
  },
);
