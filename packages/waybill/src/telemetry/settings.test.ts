import { expect, test } from 'vitest';
import { readTelemetrySettings } from './settings.ts';
import type { Env } from './variables.ts';

const SECRET = 'k3y-of-the-collector';

function read(env: Env, metrics?: boolean) {
  const warnings: string[] = [];
  const logger = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
  const asked = { env, serviceName: 'waybill-server', logger, ...(metrics !== undefined && { metrics }) };
  return { settings: readTelemetrySettings(asked), warnings };
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test.each<[string, Env]>([
  ['nothing', {}],
  ['empty variables', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ', WAYBILL_METRICS: '' }],
  ['a disabled SDK', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true', WAYBILL_METRICS: '1' }],
  ['exporters that are none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
  ['a name alone', { OTEL_SERVICE_NAME: 'mine', OTEL_TRACES_SAMPLER: 'always_on' }],
])('%s asks for nothing', (_, env) => {
  expect(read(env).settings).toBeNull();
});

test('an endpoint is the base of both kinds, with the defaults of the standard', () => {
  const { settings } = read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: `x-key=${SECRET}, b=a%20c` });
  const target = {
    shownUrl: 'http://127.0.0.1:4318',
    headers: { 'x-key': SECRET, b: 'a c' },
    compression: 'none',
    timeoutMs: 4_500,
  };
  expect(settings).toEqual({
    resource: { 'service.name': 'waybill-server' },
    traces: {
      ...{ ...target, url: 'http://127.0.0.1:4318/v1/traces', maxQueueSize: 2_048, delayMs: 5_000 },
      sampler: { name: 'parentbased_always_on', ratio: 1 },
    },
    metrics: { otlp: { ...target, url: 'http://127.0.0.1:4318/v1/metrics', intervalMs: 60_000 }, prometheus: false },
  });
});

test('the variables of one kind beat those of both, and its endpoint is taken as it stands', () => {
  const { settings } = read({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/base/', OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=1' },
    ...{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/own', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=2' },
    ...{ OTEL_EXPORTER_OTLP_TIMEOUT: '900', OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '60000' },
    ...{ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_METRIC_EXPORT_INTERVAL: '1000' },
    ...{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
  });
  expect(settings).toMatchObject({
    traces: {
      ...{ url: 'http://127.0.0.1:9/own', headers: { a: '1', b: '2' }, timeoutMs: 900, compression: 'gzip' },
      sampler: { name: 'parentbased_traceidratio', ratio: 0.25 },
    },
    metrics: {
      otlp: { url: 'https://collector.example/base/v1/metrics', headers: { a: '1', b: '1' }, timeoutMs: 4_500 },
    },
  });
  expect(settings?.metrics.otlp?.intervalMs).toBe(1_000);
});

test.each<[Env, boolean | undefined]>([
  [{ WAYBILL_METRICS: '1' }, undefined],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, undefined],
  [{}, true],
  [{ OTEL_SDK_DISABLED: 'true', ...ENDPOINT }, true],
])('%j with the flag %s asks for /metrics alone', (env, flag) => {
  expect(read(env, flag).settings).toMatchObject({ traces: null, metrics: { otlp: null, prometheus: true } });
});

test('the exporters of the standard may be several', () => {
  const env = { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'otlp,prometheus', OTEL_TRACES_EXPORTER: 'none' };
  expect(read(env).settings).toMatchObject({ traces: null, metrics: { otlp: {}, prometheus: true } });
});

test('the name of the service: OTEL_SERVICE_NAME, else the resource attributes, else the command', () => {
  const nameBy = (env: Env) => read({ ...ENDPOINT, ...env }).settings?.resource['service.name'];
  const OTEL_RESOURCE_ATTRIBUTES = 'service.name=attributes,deployment.environment=production';
  expect(nameBy({})).toBe('waybill-server');
  expect(nameBy({ OTEL_RESOURCE_ATTRIBUTES })).toBe('attributes');
  expect(nameBy({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: 'named' })).toBe('named');
  expect(read({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES }).settings?.resource).toMatchObject({
    'deployment.environment': 'production',
  });
});

test('what is asked for and cannot be is said, and does not keep the server from starting', () => {
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp' })).toEqual({
    settings: null,
    warnings: [expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT is not set')],
  });
  const { settings, warnings } = read({
    ...{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf', OTEL_METRICS_EXPORTER: 'none' },
  });
  expect(settings?.traces).not.toBeNull();
  expect(warnings).toEqual([expect.stringContaining('http/json instead of http/protobuf')]);
});

test.each<[Env, string, string]>([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'unsupported', 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/jsn' }, 'invalid_request', "Did you mean 'http/json'?"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${SECRET}:4318` }, 'invalid_request', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: `x-key=a,${SECRET}` }, 'invalid_request', 'Entry 2 of OTEL_EXPORTER_OTLP_HEADERS'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: `x-key=%zz${SECRET}` }, 'invalid_request', 'Entry 1 of OTEL_EXPORTER_OTLP_HEADERS'],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'zip' }, 'invalid_request', "Did you mean 'gzip'?"],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: '1.5' }, 'invalid_request', 'OTEL_EXPORTER_OTLP_TIMEOUT'],
  [{ OTEL_TRACES_SAMPLER: 'always-on' }, 'invalid_request', "Did you mean 'always_on'?"],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'invalid_request', 'from 0 to 1'],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, 'invalid_request', 'OTEL_METRIC_EXPORT_INTERVAL'],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'invalid_request', 'OTEL_TRACES_EXPORTER'],
  [{ OTEL_METRICS_EXPORTER: 'promethius' }, 'invalid_request', "Did you mean 'prometheus'?"],
  [{ OTEL_SDK_DISABLED: 'maybe' }, 'invalid_request', 'OTEL_SDK_DISABLED must be true or false'],
])('%j is refused as %s', (env, code, text) => {
  const refused = () => read({ ...ENDPOINT, ...env });
  expect(refused).toThrow(expect.objectContaining({ code, message: expect.stringContaining(text) }));
  expect(refused).not.toThrow(SECRET);
});
