import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { ServerProcess } from './testing/server-process.ts';

const BIN = fileURLToPath(new URL('../bin/waybill.js', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'waybill-serve-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = (name: string) => `sqlite:${path.join(folder, name)}`;
const serve = (name: string, ...more: string[]) =>
  ServerProcess.start(['serve', '--store', store(name), '--port', '0', ...more]);
const run = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
};
const job = { type: 'a.b', args: [], options: { queue: 'q' } };

test('prints one ready line once it answers', async () => {
  const server = await serve('ready.db');
  onTestFinished(async () => void (await server.end('SIGKILL')));
  expect(server.output).toMatch(/^waybill ready on http:\/\/127\.0\.0\.1:\d+ \(store sqlite:.*\)\n$/);
  expect((await server.call('GET', '/ready')).status).toBe(200);
});

// fault: SIGTERM while requests are under way
test('guarantee 11: SIGTERM lets requests under way finish, ends long polls and exits with 0', async () => {
  const server = await serve('drain.db');
  await server.call('POST', '/ojs/v1/jobs', job);
  const waiting = server.call('POST', '/ojs/v1/workers/fetch', { queues: ['empty'], wait_ms: 30_000 });
  const enqueued = Array.from({ length: 50 }, () => server.call('POST', '/ojs/v1/jobs', job));
  await enqueued[0];
  const ended = server.end('SIGTERM');
  const answers = await Promise.allSettled(enqueued);
  expect((await waiting).body).toMatchObject({ jobs: [] });
  expect(await ended).toBe(0);

  const again = await serve('drain.db');
  onTestFinished(async () => void (await again.end('SIGKILL')));
  const stored = answers.filter((answer) => answer.status === 'fulfilled' && answer.value.status === 201).length + 1;
  const { body } = await again.call<{ jobs: unknown[] }>('POST', '/ojs/v1/workers/fetch', {
    queues: ['q'],
    count: 100,
  });
  expect(body.jobs.length).toBeGreaterThanOrEqual(stored);
});

test('two servers share one file: what one takes in, the other gives out at once', async () => {
  const [one, two] = [await serve('shared.db'), await serve('shared.db')];
  onTestFinished(async () => void (await Promise.all([one.end('SIGKILL'), two.end('SIGKILL')])));
  const waiting = two.call<{ jobs: { id: string }[] }>('POST', '/ojs/v1/workers/fetch', {
    queues: ['q'],
    wait_ms: 20_000,
  });
  const { body } = await one.call<{ job: { id: string } }>('POST', '/ojs/v1/jobs', job);
  expect((await waiting).body.jobs.map(({ id }) => id)).toEqual([body.job.id]);
});

/** The status that a request gets which names this host. */
const statusFor = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { Host: host };
    get(`${url}/ready`, { headers, agent: false }, (response) => resolve(response.resume().statusCode)).on(
      'error',
      reject,
    );
  });

test('A9: --allow-host and WAYBILL_ALLOWED_HOSTS name the hosts of requests, besides localhost', async () => {
  const names = ['localhost', 'a.example', 'b.example:8080', 'c.example'];
  const flags = ['--allow-host', 'a.example', '--allow-host', 'b.example'];
  const env = { WAYBILL_ALLOWED_HOSTS: 'c.example, a.example' };
  for (const [more, statuses] of [
    [flags, [200, 200, 200, 403]],
    [[], [200, 200, 403, 200]],
  ] as const) {
    const args = ['serve', '--store', 'sqlite::memory:', '--port', '0', ...more];
    const server = await ServerProcess.start(args, env);
    onTestFinished(async () => void (await server.end('SIGKILL')));
    expect(await Promise.all(names.map((name) => statusFor(server.url, name)))).toEqual(statuses);
  }
});

test('a port that is taken is named; dev takes another one', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  const { status, stderr } = run('serve', '--store', store('port.db'), '--port', String(port));
  expect(status).toBe(1);
  expect(stderr).toContain(String(port));
  // D12: and what to do.
  expect(stderr).toContain('choose another port by --port');
});

test('dev shows a sample job going through to completed', async () => {
  const server = await ServerProcess.start(['dev', '--store', store('dev.db'), '--port', '0']);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  await server.printed(/sample\.hello \S+ completed #1/);
  expect(await server.end('SIGTERM')).toBe(0);
});

test.each([
  [['frobnicate'], 2, 'no command'],
  [['serve', '--frob'], 2, '--frob'],
  [['serve', '--port', 'eighty'], 2, 'port'],
  [['serve', '--grpc-port', 'ninety'], 2, 'port'],
  [['serve', '--max-connections', '0'], 2, 'connections'],
  [['serve', '--store', 'sqlite::memory:', '--allow-host', 'http://a.example'], 2, "'http://a.example'"],
  [['serve', '--store', 'redis://localhost'], 2, 'redis'],
  [['serve', '--store', 'nothing'], 2, 'scheme'],
])('%j ends with exit code %d and a hint', (args, code, text) => {
  const { status, stderr } = run(...args);
  expect(status).toBe(code);
  expect(stderr).toContain(text);
  expect(stderr).not.toContain('    at ');
});

test('a file that is no database is refused in one line', () => {
  const file = path.join(folder, 'text.db');
  writeFileSync(file, 'this is not a database, it is only text that goes on for a while '.repeat(100));
  const { status, stderr } = run('serve', '--store', `sqlite:${file}`, '--port', '0');
  expect(status).toBe(1);
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
});

test('--help and --version', () => {
  expect(run('--help').stdout).toContain('waybill serve');
  expect(run('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("A21: a job's metadata steers no worker unless the server is asked for that, on loopback too", async () => {
  const steered = { ...job, options: { ...job.options, metadata: { test_directive: 'terminate' } } };
  const heard = async (server: ServerProcess): Promise<unknown> => {
    await server.call('POST', '/ojs/v1/jobs', steered);
    const fetched = { queues: ['q'], worker_id: 'w1' };
    const { body } = await server.call<{ jobs: { id: string }[] }>('POST', '/ojs/v1/workers/fetch', fetched);
    const beat = { worker_id: 'w1', active_jobs: [body.jobs[0]!.id] };
    return (await server.call('POST', '/ojs/v1/workers/heartbeat', beat)).body['directive'];
  };
  const [plain, asked] = [await serve('plain.db'), await serve('asked.db', '--test-directives')];
  onTestFinished(async () => void (await Promise.all([plain.end('SIGKILL'), asked.end('SIGKILL')])));
  expect([await heard(plain), await heard(asked)]).toEqual(['running', 'terminate']);
  const beyond = run('serve', '--host', '0.0.0.0', '--no-auth', '--test-directives', '--store', store('beyond.db'));
  expect(beyond.status).not.toBe(0);
  expect(beyond.stderr).toContain('Refusing test directives beyond loopback');
});

test('L6: a server whose port is taken leaves no database behind', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { status, stderr } = run('serve', '--store', store('taken.db'), '--port', String(port));
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining('or choose another port by --port; 0 takes any free one'),
  ]);
  expect(existsSync(path.join(folder, 'taken.db'))).toBe(false);
});
