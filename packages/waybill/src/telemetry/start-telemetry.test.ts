import { once } from 'node:events';
import { metrics, trace } from '@opentelemetry/api';
import type { Logger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { OtlpReceiver } from '../testing/otlp-receiver.ts';
import { canRunPromtool, parsePrometheus, promtool } from '../testing/prometheus.ts';
import { startTelemetry, type Telemetry } from './start-telemetry.ts';
import type { Env } from './variables.ts';

const SECRET = 'k3y-of-the-collector';

interface Line {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

function recorder(): { lines: Line[]; logger: Logger; until(count: number): Promise<void> } {
  const lines: Line[] = [];
  const changed = new EventTarget();
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
    changed.dispatchEvent(new Event('line'));
  };
  const until = async (count: number) => {
    while (lines.length < count) await once(changed, 'line');
  };
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, until };
}

async function started(env: Env, { logger } = recorder(), prometheus?: boolean): Promise<Telemetry> {
  const asked = { env, logger, serviceName: 'waybill-server', version: '1.2.3', ...(prometheus && { metrics: true }) };
  const telemetry = await startTelemetry(asked);
  if (telemetry === undefined) throw new Error('Nothing was started.');
  onTestFinished(() => telemetry.stop());
  return telemetry;
}

/** As a handler has it, which knows the API alone. */
const tracer = () => trace.getTracer('test');
const count = () =>
  metrics.getMeter('test').createCounter('test.things', { description: 'Things.' }).add(1, { a: 'b"c' });

test('spans reach the collector with the resource and the headers', async () => {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.stop());
  const telemetry = await started({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: `x-key=${SECRET}` },
    ...{ OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
  });
  const ids = await tracer().startActiveSpan('one', { attributes: { 'a.b': 2 } }, async (span) => {
    await Promise.resolve();
    expect(trace.getActiveSpan()).toBe(span);
    span.end();
    return span.spanContext();
  });
  count();
  await telemetry.stop();
  expect(receiver.requests.map(({ path, headers }) => [path, headers['x-key']]).sort()).toEqual([
    ['/v1/metrics', SECRET],
    ['/v1/traces', SECRET],
  ]);
  expect(receiver.spans).toMatchObject([
    {
      ...{ service: 'waybill-server', name: 'one', attributes: { 'a.b': 2 } },
      ...{ traceId: ids.traceId, spanId: ids.spanId },
      resource: { 'service.version': '1.2.3', 'deployment.environment': 'test', 'telemetry.sdk.language': 'nodejs' },
    },
  ]);
  expect(receiver.metrics).toMatchObject([{ service: 'waybill-server', name: 'test.things' }]);
  // What was stopped is registered no more.
  expect(trace.getTracer('test').startSpan('later').isRecording()).toBe(false);
});

test.each([
  ['always_off', 0],
  ['always_on', 20],
  ['parentbased_traceidratio', 0],
])('the sampler %s records %d of 20 traces', async (name, expected) => {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.stop());
  const telemetry = await started({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0' },
  });
  for (let n = 0; n < 20; n++) tracer().startSpan('one').end();
  await telemetry.stop();
  expect(receiver.spans).toHaveLength(expected);
});

// fault: the collector refuses, hangs, or is away
test.each<[string, number | undefined | 'away', string]>([
  ['refuses', 401, 'HTTP 401'],
  ['hangs', undefined, 'Error'],
  ['is away', 'away', 'ECONNREFUSED'],
])(
  'a collector that %s is told once, holds the end for 5 s at most, and no secret is shown',
  async (_, status, why) => {
    const receiver = await OtlpReceiver.start();
    onTestFinished(() => receiver.stop());
    if (status === 'away') await receiver.stop();
    else receiver.status = status;
    const recorded = recorder();
    const telemetry = await started(
      {
        ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/${SECRET}`, OTEL_EXPORTER_OTLP_HEADERS: `x-key=${SECRET}` },
        ...{ OTEL_EXPORTER_OTLP_TIMEOUT: '200', OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_METRICS_EXPORTER: 'none' },
        OTEL_BSP_MAX_QUEUE_SIZE: '8',
      },
      recorded,
    );
    for (let n = 0; n < 500; n++) tracer().startSpan('one').end();
    await recorded.until(1);
    for (let n = 0; n < 500; n++) tracer().startSpan('two').end();
    const begun = performance.now();
    await telemetry.stop();
    expect(performance.now() - begun).toBeLessThan(5_500);
    expect(recorded.lines).toEqual([
      {
        level: 'warn',
        fields: { signal: 'traces', endpoint: receiver.url, reason: expect.stringContaining(why) },
        message: expect.stringContaining('The collector takes no telemetry.'),
      },
    ]);
    expect(JSON.stringify(recorded.lines)).not.toContain(SECRET);
  },
);

// fault: the collector never answers, then it refuses
test.each<[string, number | undefined]>([
  ['queue_full', undefined],
  ['export_failed', 401],
])('spans that no collector got are counted: %s', async (reason, status) => {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.stop());
  receiver.status = status;
  const recorded = recorder();
  const telemetry = await started(
    {
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '200' },
      ...{ OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_SCHEDULE_DELAY: '1' },
    },
    recorded,
    true,
  );
  const sent = reason === 'queue_full' ? 100 : 10;
  for (let n = 0; n < sent; n++) tracer().startSpan('one').end();
  // What found no room is told with the next batch.
  if (reason === 'queue_full') await receiver.until(() => (receiver.requests.length >= 2 ? true : undefined));
  else await recorded.until(1);
  const families = parsePrometheus(await telemetry.metrics!());
  const counted = families.find(({ name }) => name === 'waybill_spans_dropped_total')?.metrics;
  const of = (why: string) => Number(counted?.find(({ labels }) => labels?.['reason'] === why)?.value ?? 0);
  // Ten are sent off, ten more wait for their answer, and the others find no room.
  if (reason === 'queue_full') expect(of(reason)).toBe(80);
  else expect([of(reason), of('queue_full')]).toEqual([10, 0]);
});

test('the text for Prometheus has what was counted, and a parser reads it', async () => {
  const telemetry = await started({}, undefined, true);
  count();
  metrics.getMeter('test').createHistogram('test.spans', { description: 'Spans.', unit: 's' }).record(0.2, { a: 'b' });
  const text = await telemetry.metrics!();
  const families = parsePrometheus(text);
  expect(families.find(({ name }) => name === 'test_things_total')).toMatchObject({
    ...{ type: 'COUNTER', help: 'Things.', metrics: [{ value: '1', labels: { a: 'b"c' } }] },
  });
  expect(families.find(({ name }) => name === 'test_spans')).toMatchObject({ type: 'HISTOGRAM' });
  expect(families.find(({ name }) => name === 'target_info')?.metrics).toMatchObject([
    { labels: { service_name: 'waybill-server', service_version: '1.2.3' } },
  ]);
});

test.runIf(canRunPromtool)('promtool finds nothing to say about it (skipped: needs promtool)', async () => {
  const telemetry = await started({}, undefined, true);
  count();
  expect(promtool(['check', 'metrics'], await telemetry.metrics!())).toEqual({ status: 0, printed: '' });
});

// fault: what a gauge is read from never answers
test('a gauge that hangs keeps nobody from the other metrics, and callers of one moment share one reading', async () => {
  const telemetry = await started({}, undefined, true);
  count();
  let asked = 0;
  metrics
    .getMeter('test')
    .createObservableGauge('test.hanging')
    .addCallback(() => {
      asked += 1;
      return new Promise<void>(() => {});
    });
  const texts = await Promise.all([telemetry.metrics!(), telemetry.metrics!(), telemetry.metrics!()]);
  expect(new Set(texts).size).toBe(1);
  expect(asked).toBe(1);
  expect(texts[0]).toContain('test_things_total');
});
