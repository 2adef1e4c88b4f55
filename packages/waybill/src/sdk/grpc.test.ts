import { readFileSync } from 'node:fs';
import path from 'node:path';
import { engine, silentLogger } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { task } from '@waybill/worker';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Terminal } from '../cli/testing/terminal.ts';
import { connect } from './connect.ts';

async function server() {
  const waybill = engine({ store: memoryStore(), logger: silentLogger });
  const app = createApp({ waybill, version: 'test', logger: silentLogger });
  const listening = await serve(app, { port: 0, grpcPort: 0, graceMs: 1_000 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  return { waybill, http: listening.url, grpc: listening.grpcUrl! };
}

describe.each(['http', 'grpc'] as const)('a worker over %s', (protocol) => {
  test('runs, fails, reports and stops by the same code', async () => {
    const { waybill, [protocol]: url } = await server();
    const tries: number[] = [];
    const running = Promise.withResolvers<void>();
    const work = task('test.work', {
      retry: { max_attempts: 2, initial_interval: 'PT0.001S', jitter: false },
      run: async (input: { fail: boolean }, context) => {
        tries.push(context.attempt);
        await context.progress(0.5, { rows: 1 });
        if (input.fail && context.attempt === 1) throw new Error('no luck');
        return { done: context.attempt };
      },
    });
    const endless = task('test.endless', {
      run: (_input: undefined, { signal }) =>
        new Promise<void>((_resolve, reject) => {
          running.resolve();
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    });
    const connection = await connect(url, { logger: silentLogger });
    onTestFinished(() => connection.close());
    const worker = connection.work([work, endless]);
    const job = await connection.enqueue(work, { fail: true });
    expect(await connection.wait(job, { timeoutMs: 20_000 })).toEqual({ done: 2 });
    expect(tries).toEqual([1, 2]);
    expect(await waybill.jobs.progress(job.id)).toMatchObject({ run: 2, data: { rows: 1 } });
    const stuck = await connection.enqueue(endless);
    await running.promise;
    await connection.jobs.cancel(stuck.id);
    await worker.stop();
    expect(await waybill.jobs.get(stuck.id)).toMatchObject({ state: 'cancelled' });
  });
});

test.each(['http', 'grpc'] as const)(
  'our own worker over %s drives enqueue, dequeue, publish, extend, complete, and a reader streams it',
  async (protocol) => {
    const { waybill, [protocol]: url } = await server();
    const extended = Promise.withResolvers<void>();
    const build = task('test.build', {
      run: async (_: undefined, { emit, output, log }) => {
        await emit('build.started', { site: 'docs' }, { critical: true });
        output(Buffer.from([0xff, 10]), { stream: 'stderr' });
        log('halfway');
        await extended.promise;
        return 'built';
      },
    });
    const connection = await connect(url, { logger: silentLogger });
    onTestFinished(() => connection.close());
    const worker = connection.work([build], { leaseMs: 1_500, heartbeatMs: 100 });
    const job = await connection.enqueue(build);
    const types: string[] = [];
    for await (const item of connection.jobs.follow(job, { lifecycle: true })) {
      types.push(item.kind === 'entry' ? item.entry.type : item.event.type);
      if (types.at(-1) === 'job.heartbeat') extended.resolve();
      if (item.kind === 'entry' && item.entry.output)
        expect([[...item.entry.output], item.entry.stream]).toEqual([[0xff, 10], 'stderr']);
    }
    expect(types.filter((type) => !type.startsWith('job.'))).toEqual(['build.started', 'output', 'log']);
    expect(types).toContain('job.heartbeat');
    expect(types.at(-1)).toBe('job.completed');
    expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'completed', result: 'built', run: 1 });
    await worker.stop();
  },
);

test('a run speaks over gRPC while a reader follows it', async () => {
  const { grpc } = await server();
  const connection = await connect(grpc, { logger: silentLogger });
  onTestFinished(() => connection.close());
  const { job } = await connection.jobs.enqueue({ type: 'test.work', args: [] });
  const [lease] = await connection.jobs.claim({ queues: ['default'], workerId: 'w' });
  const held = { id: job.id, leaseToken: lease!.token };
  const live = Promise.withResolvers<void>();
  const following = (async () => {
    const types: string[] = [];
    const query = { lifecycle: true, signal: new AbortController().signal, onLive: live.resolve };
    for await (const said of connection.jobs.follow(job.id, query))
      types.push(said.kind === 'entry' ? said.entry.type : said.event.type);
    return types;
  })();
  await live.promise;
  await connection.jobs.append({ ...held, entries: [{ sequence: 1, type: 'user.own', data: 1 }] });
  expect((await connection.jobs.heartbeat({ workerId: 'w', jobs: [held] })).extended).toHaveLength(1);
  await connection.jobs.append({ ...held, entries: [{ sequence: 2, type: 'output', output: new Uint8Array([255]) }] });
  await connection.jobs.settle({ ...held, outcome: { kind: 'completed', result: 1 } });
  expect(await following).toEqual([
    ...['job.enqueued', 'job.started', 'user.own', 'job.heartbeat', 'output', 'job.completed'],
  ]);
});

test('the command enqueues, lists, shows, cancels and retries over gRPC', async () => {
  const { grpc, waybill } = await server();
  const terminal = new Terminal(grpc);
  const run = async (...line: string[]) => {
    const { code, out, err } = await terminal.run(...line);
    expect([line, code, err]).toEqual([line, 0, '']);
    return out;
  };
  await run('enqueue', 'test.work', '{"a":1}');
  const [job] = (await waybill.jobs.list()).items;
  expect(await run('jobs', 'list')).toContain('test.work');
  expect(await run('jobs', 'show', job!.id)).toContain('enqueued');
  expect(await run('jobs', 'cancel', job!.id)).toContain('cancelled');
  await run('jobs', 'retry', job!.id);
  expect(await waybill.jobs.get(job!.id)).toMatchObject({ state: 'available' });
  const refused = await terminal.run('queues', 'list');
  expect(refused.err).toMatch(/no call for queues\.list.*\n.*HTTP address/);
});

test('an absent server is told of once, and connect answers all the same', async () => {
  const told = Promise.withResolvers<string>();
  const logger = { ...silentLogger, warn: (_: object, line: string) => told.resolve(line) };
  const connection = await connect('grpc://127.0.0.1:1', { logger });
  onTestFinished(() => connection.close());
  expect(await told.promise).toMatch(/^The server grpc:\/\/127\.0\.0\.1:1 .* Calls fail until it answers\.$/);
});

test.each(['http', 'grpc'] as const)(
  'an address with %s:// and the port of the other protocol is told so',
  async (scheme) => {
    const { http, grpc } = await server();
    const right = scheme === 'http' ? grpc : http;
    const wrong = right.replace(/^\w+/, scheme);
    const hint = expect.stringMatching(`^This looks like the (gRPC|HTTP) port\\. Use ${right}, or `);
    const told = Promise.withResolvers<void>();
    // A busy machine may be silent for so long that this is reported first.
    const warn = (facts: object) => hint.asymmetricMatch(Reflect.get(facts, 'hint')) && told.resolve();
    const connection = await connect(wrong, { logger: { ...silentLogger, warn } });
    onTestFinished(() => connection.close());
    await told.promise;
    await expect(connection.jobs.enqueue({ type: 'a.b', args: [] })).rejects.toMatchObject({
      code: 'unavailable',
      hint,
    });
    expect((await new Terminal(wrong).run('jobs', 'list')).err).toContain(`Use ${right}, or `);
  },
);

const ROOT = path.join(import.meta.dirname, '../../../..');
/** `import type` vanishes, and `import()` is for those who need it. */
const AT_START = /^(?:import|export)\s(?!type\s)[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm;

function fileOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('.')) return path.join(path.dirname(from), specifier);
  const [, name, part = '.'] = /^@waybill\/([a-z]+)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const { exports } = JSON.parse(readFileSync(path.join(ROOT, 'packages', name, 'package.json'), 'utf8'));
  const built: string = exports[part === '.' ? part : `.${part}`].default;
  return path.join(ROOT, 'packages', name, built.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
}

/** Libraries that are loaded with a file and all that it imports. */
function loadedWith(file: string, seen = new Set<string>(), libraries = new Set<string>()): Set<string> {
  if (seen.has(file)) return libraries;
  seen.add(file);
  for (const found of readFileSync(file, 'utf8').matchAll(AT_START)) {
    const specifier = (found[1] ?? found[2])!;
    const next = fileOf(specifier, file);
    if (next === undefined) libraries.add(specifier);
    else loadedWith(next, seen, libraries);
  }
  return libraries;
}

test('only who names a grpc address loads Connect and protobuf', () => {
  const isRpc = (library: string) => /^@(connectrpc|bufbuild)\//.test(library);
  const source = (file: string) => path.join(ROOT, 'packages', file);
  for (const entry of [
    'waybill/src/index.ts',
    'waybill/src/sdk/open.ts',
    'client/src/http/index.ts',
    'client/src/index.ts',
  ])
    expect([entry, [...loadedWith(source(entry))].filter(isRpc)]).toEqual([entry, []]);
  expect([...loadedWith(source('client/src/rpc/index.ts'))].filter(isRpc)).not.toEqual([]);
});
