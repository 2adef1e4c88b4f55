import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { METRICS } from '@waybill/telemetry';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { CommandProcess } from '../testing/command-process.ts';
import { prometheusName } from '../testing/observability-files.ts';
import { OtlpReceiver } from '../testing/otlp-receiver.ts';
import { canRunPromtool, parsePrometheus, promtool } from '../testing/prometheus.ts';
import { ServerProcess } from '../testing/server-process.ts';

const BIN = fileURLToPath(new URL('../../bin/waybill.js', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'waybill-telemetry-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Notes every module that a process loads, and finds none whose name is given as missing. */
const SPY = `
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === process.env.MISSING_PACKAGE) {
      throw Object.assign(new Error("Cannot find package '" + specifier + "'"), { code: 'ERR_MODULE_NOT_FOUND' });
    }
    const found = next(specifier, context);
    appendFileSync(process.env.LOADED_MODULES, found.url + '\\n');
    return found;
  },
});
`;
const spy = path.join(folder, 'spy.mjs');
writeFileSync(spy, SPY);

const tasks = path.join(folder, 'tasks.mjs');
const worker = new URL('../../../worker/dist/index.js', import.meta.url);
writeFileSync(
  tasks,
  `import { task } from '${worker}';
export const one = task('a.b', { run: () => 1 });
export const loud = task('c.d', { run: async (_, { output, emit }) => {
  output('line');
  await emit('step.done', 1, { critical: true });
} });
`,
);

const NO_TELEMETRY = Object.fromEntries(
  Object.keys(process.env).flatMap((name) => (/^OTEL_|^WAYBILL_METRICS$/.test(name) ? [[name, undefined]] : [])),
);

const spied = (name: string) => {
  const file = path.join(folder, name);
  const env = { ...NO_TELEMETRY, LOADED_MODULES: file, NODE_OPTIONS: `--import=${pathToFileURL(spy)}` };
  const ofTelemetry = () =>
    [...new Set(readFileSync(file, 'utf8').split('\n'))].filter((url) => /opentelemetry|packages\/telemetry/.test(url));
  return { env, ofTelemetry };
};

const SERVE = ['serve', '--store', 'sqlite::memory:', '--port', '0'];

async function served(env: NodeJS.ProcessEnv, ...args: string[]): Promise<ServerProcess> {
  const server = await ServerProcess.start([...SERVE, ...args], env);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  return server;
}

test('without an endpoint and without --metrics a server and a worker load nothing of OpenTelemetry', async () => {
  const [one, two] = [spied('serve'), spied('work')];
  const server = await served(one.env);
  const working = await CommandProcess.start(['work', tasks, '--store', server.url], /^waybill works on/m, two.env);
  expect((await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [] })).status).toBe(201);
  expect([await working.end('SIGTERM'), await server.end('SIGTERM')]).toEqual([0, 0]);
  expect([one.ofTelemetry(), two.ofTelemetry()]).toEqual([[], []]);
});

test('with --metrics the part for metrics is loaded, and neither that for traces nor an exporter of OTLP', async () => {
  const { env, ofTelemetry } = spied('metrics');
  const server = await served(env, '--metrics');
  await server.end('SIGTERM');
  const loaded = ofTelemetry().join('\n');
  expect(loaded).toContain('@opentelemetry/sdk-metrics');
  expect(loaded).not.toMatch(/@opentelemetry\/(sdk-trace|exporter-\w+-otlp-http)/);
});

test('a package that is not installed is named with what to install, and no store is made', () => {
  const store = path.join(folder, 'none.db');
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'serve', '--metrics', '--store', `sqlite:${store}`], {
    encoding: 'utf8',
    env: { ...process.env, ...spied('missing').env, MISSING_PACKAGE: '@opentelemetry/exporter-prometheus' },
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining("the package '@opentelemetry/exporter-prometheus'")]);
  expect(stderr).toContain('npm install @opentelemetry/exporter-prometheus');
  expect(existsSync(store)).toBe(false);
});

test('a variable that means nothing is refused before a store is made', () => {
  const store = path.join(folder, 'refused.db');
  const env = {
    ...process.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  };
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'serve', '--store', `sqlite:${store}`], {
    ...{ encoding: 'utf8', env },
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL is grpc')]);
  expect(existsSync(store)).toBe(false);
});

const textOf = async (server: ServerProcess) => {
  const response = await fetch(`${server.url}/metrics`);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

test.each<[string, string[], NodeJS.ProcessEnv]>([
  ['--metrics', ['--metrics'], {}],
  ['WAYBILL_METRICS=1', [], { WAYBILL_METRICS: '1' }],
  ['OTEL_METRICS_EXPORTER=prometheus', [], { OTEL_METRICS_EXPORTER: 'prometheus' }],
])('with %s a parser of Prometheus reads what a server has done at /metrics', async (_, args, env) => {
  const server = await served({ ...NO_TELEMETRY, ...env }, ...args);
  await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [], options: { queue: 'q"1' } });
  const { body } = await server.call<{ job: { id: string } }>('POST', '/ojs/v1/jobs', {
    ...{ type: 'a.b', args: [], options: { queue: 'mails' } },
  });
  const { status, type, text } = await textOf(server);
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const families = parsePrometheus(text);
  const family = (name: string) => families.find((one) => one.name === name);
  expect(family('waybill_jobs_enqueued_total')).toMatchObject({
    ...{ type: 'COUNTER', metrics: [{ labels: { queue: 'mails' }, value: '1' }] },
  });
  expect(family('waybill_queue_depth')?.metrics).toContainEqual({
    ...{ labels: { queue: 'mails', state: 'available' }, value: '1' },
  });
  expect(family('waybill_http_request_duration')?.type).toBe('HISTOGRAM');
  expect(family('target_info')?.metrics).toMatchObject([{ labels: { service_name: 'waybill-server' } }]);
  const known = new Set([...METRICS.map(prometheusName), 'target_info']);
  expect(families.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  // Ids have no end, and so they are no labels.
  expect(text).not.toContain(body.job.id);
  if (canRunPromtool) expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, printed: '' });
});

test('dev shows what its worker does, too', async () => {
  const args = ['dev', tasks, '--store', 'sqlite::memory:', '--port', '0', '--metrics'];
  const server = await ServerProcess.start(args, NO_TELEMETRY);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [] });
  await server.printed(/a\.b \S+ completed #1/);
  const { text } = await textOf(server);
  expect(text).toMatch(/^waybill_job_run_duration_count\{queue="default",type="a\.b",outcome="completed"\} 1$/m);
  expect(text).toMatch(/^waybill_jobs_completed_total\{queue="default",state="completed"\} 1$/m);
  expect(text).toMatch(/^waybill_worker_utilisation [\d.]+$/m);
  if (canRunPromtool) expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, printed: '' });
});

test('a scrape shows what runs say, who follows it, and no id', async () => {
  const args = ['dev', tasks, '--store', 'sqlite::memory:', '--port', '0', '--metrics'];
  const server = await ServerProcess.start(args, NO_TELEMETRY);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  const { body } = await server.call<{ job: { id: string } }>('POST', '/ojs/v1/jobs', { type: 'c.d', args: [] });
  await server.printed(/c\.d \S+ completed #1/);
  const journal = `/ojs/v1/jobs/${body.job.id}/journal`;
  const refused = await server.call('POST', journal, { entries: [{ type: 'too.late', sequence: 9 }] });
  expect(refused.status).toBe(409);
  const where = server.url + journal;
  // Ends by itself, since the job has ended.
  await (await fetch(where, { headers: { accept: 'text/event-stream' } })).text();
  const leaving = new AbortController();
  const open = await fetch(`${where}?stay=true`, {
    ...{ headers: { accept: 'text/event-stream' }, signal: leaving.signal },
  });
  expect(open.status).toBe(200);
  const { text } = await textOf(server);
  leaving.abort();
  expect(text).toMatch(/^waybill_events_publish_total\{success="true"\} [12]$/m);
  expect(text).toMatch(/^waybill_events_persisted_total 2$/m);
  expect(text).toMatch(/^waybill_events_publish_duration_count [23]$/m);
  expect(text).toMatch(/^waybill_events_publish_total\{success="false"\} 1$/m);
  expect(text).toMatch(/^waybill_events_publish_errors_total\{error_type="\w+"\} 1$/m);
  expect(text).toMatch(/^waybill_streams_historical_replay_events_total [24]$/m);
  expect(text).toMatch(/^# TYPE waybill_streams_active gauge$/m);
  expect(text).toMatch(/^waybill_streams_active\{kind="journal"\} 1$/m);
  expect(text).toMatch(/^waybill_http_request_duration_count\{method="POST",route="\/ojs\/v1\/jobs\/:id\/journal",/m);
  const known = new Set([...METRICS.map(prometheusName), 'target_info']);
  // The parser of the other tests cannot read a histogram without labels; promtool can.
  const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect(text).not.toContain(body.job.id);
  if (canRunPromtool) expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, printed: '' });
});

test('without metrics /metrics says how to turn them on', async () => {
  const server = await served(NO_TELEMETRY);
  const { status, body } = await server.call<{ error: { hint: string } }>('GET', '/metrics');
  expect([status, body.error.hint]).toEqual([404, expect.stringContaining('--metrics')]);
});

// fault: the collector takes connections and never answers, or never ends its answers
test.each(['never answers', 'never ends its answers'])(
  'with a collector that %s the server ends in time',
  async (how) => {
    const receiver = await OtlpReceiver.start();
    onTestFinished(() => receiver.stop());
    if (how === 'never answers') receiver.status = undefined;
    else receiver.isTrickling = true;
    const server = await served({
      ...{ ...NO_TELEMETRY, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: 'named' },
      ...{ OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_METRIC_EXPORT_INTERVAL: '50' },
    });
    for (let n = 0; n < 20; n++)
      expect((await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [] })).status).toBe(201);
    await receiver.until(() => (receiver.requests.length >= 2 ? true : undefined));
    const begun = performance.now();
    expect(await server.end('SIGTERM')).toBe(0);
    // The bound is 5 s; the rest is what a busy machine needs to end a process.
    expect(performance.now() - begun).toBeLessThan(9_000);
    const warnings = server.output.split('\n').filter((line) => line.includes('The collector takes no telemetry'));
    expect(new Set(warnings).size).toBe(warnings.length);
    expect(warnings.length).toBeLessThanOrEqual(2);
  },
);
