import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Only to tell a hang from an answer. */
const HANGS_MS = 25_000;

/** Every way in; each is asked for in a process of its own Node, and says what it was refused with. */
const WAYS_IN = `
import { connect, engine, openStore, task, Worker } from 'waybill';
import { postgresStore } from 'waybill/postgres';
import { testWaybill } from 'waybill/testing';
import { sqliteStore } from '@waybill/sql/sqlite';
import { dynamoStore } from '@waybill/aws/dynamodb';
import { sqsTransport } from '@waybill/aws/sqs';
import { s3BlobStore } from '@waybill/aws/s3';

const url = 'postgres://u@127.0.0.1:1/db';
const tasks = [task('a.b', { run: () => {} })];
const ways = {
  sqlite: () => connect('sqlite::memory:'),
  postgres: () => connect(url),
  dynamodb: () => connect('dynamodb://eu-west-1/jobs'),
  http: () => connect('http://127.0.0.1:1'),
  openStore: () => openStore('sqlite::memory:'),
  sqliteStore: () => sqliteStore({ path: ':memory:' }),
  postgresStore: () => postgresStore({ url }),
  dynamoStore: () => dynamoStore({ table: 'jobs' }),
  sqsTransport: () => sqsTransport(),
  s3BlobStore: () => s3BlobStore({ bucket: 'payloads' }),
  engine: () => engine({}),
  Worker: () => new Worker({ tasks, jobs: {} }),
  testWaybill: () => testWaybill({ tasks }),
};
const answers = {};
for (const [name, way] of Object.entries(ways)) {
  try {
    await way();
    answers[name] = 'taken';
  } catch (error) {
    answers[name] = error.code + ': ' + error.message;
  }
}
console.log(JSON.stringify(answers));
process.exit();
`;

async function answersOf(node: string, args: readonly string[] = []): Promise<Record<string, string>> {
  const all = [...args, '--input-type=module', '-e', WAYS_IN];
  const { stdout } = await run(node, all, { cwd: root, timeout: HANGS_MS });
  return JSON.parse(stdout);
}

function expectRefused(answers: Record<string, string>, version: string): void {
  const refusal = `unsupported: Waybill needs Node.js 22.13 or newer, and this is ${version}.`;
  expect(answers).toEqual(Object.fromEntries(Object.keys(answers).map((name) => [name, refusal])));
  expect(Object.keys(answers)).toHaveLength(13);
}

test('D3: every way in refuses a Node that is too old, at once and by name', async () => {
  const pretend = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})`;
  expectRefused(await answersOf(process.execPath, ['--import', pretend]), '20.20.2');
});

/** An old Node of the system, where there is one. */
function oldNode(): { path: string; version: string } | undefined {
  for (const path of ['/usr/bin/node', '/usr/local/bin/node']) {
    try {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1);
      const [major = 0, minor = 0] = version.split('.').map(Number);
      if (major >= 18 && (major < 22 || (major === 22 && minor < 13))) return { path, version };
    } catch {
      // There is none at this place.
    }
  }
  return undefined;
}

test('D3: the packages load on a real old Node, and refuse it', async ({ skip }) => {
  const old = oldNode();
  if (old === undefined) return skip('no Node older than 22.13 is installed here; the test above pretends to be one');
  expectRefused(await answersOf(old.path), old.version);
});
