import type { ConfigKey } from './config-key.ts';
import { AWS_KEYS } from './keys-aws.ts';
import { ALERT_KEYS, HEALTH_KEYS } from './keys-health.ts';
import { SERVER_KEYS } from './keys-server.ts';
import { WORKER_KEYS } from './keys-worker.ts';
import { address, choice, collector, days, daysOrZero, name, onOrOff, ratio, span, text, whole } from './kinds.ts';

const GENERAL_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'store', kind: address, env: 'WAYBILL_STORE', flag: 'store', default: 'sqlite:./waybill.db' },
    about:
      'where jobs are kept: sqlite:FILE, postgres://.., dynamodb://..; for `work` also http(s)://HOST or grpc(s)://HOST:PORT',
  },
  {
    ...{ path: 'transport', kind: address, env: 'WAYBILL_TRANSPORT', flag: 'transport', default: 'poll' },
    about: 'what carries hints: poll or sqs://REGION/PREFIX',
  },
  {
    ...{ path: 'blobs', kind: address, env: 'WAYBILL_BLOBS', flag: 'blobs' },
    about: 'where large payloads go: file:FOLDER or s3://BUCKET/PREFIX',
  },
];

const ENGINE_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'engine.lease', kind: span, option: 'engine.leaseMs', default: '5m' },
    about: 'lease of a claim that names none, whose job names none',
  },
  {
    ...{ path: 'engine.sweep', kind: span, option: 'engine.sweepEveryMs', default: '1s' },
    about: 'longest pause between two looks at due jobs',
  },
  {
    ...{ path: 'retention.finished', kind: days, option: 'engine.retention.finishedMs', default: '7d' },
    about: 'how long finished jobs are kept',
  },
  {
    ...{ path: 'retention.dead', kind: days, option: 'engine.retention.deadMs', default: '90d' },
    about: 'dead letters whose jobs do not say for how long',
  },
  { path: 'retention.events', kind: days, option: 'engine.retention.eventsMs', default: '7d', about: 'events' },
  {
    ...{ path: 'retention.journal', kind: daysOrZero, option: 'engine.retention.journalMs', default: '30d' },
    about: 'what runs have said; 0 keeps it for as long as its job',
  },
  {
    ...{ path: 'retention.unused', kind: days, option: 'engine.retention.unusedMs', default: '30d' },
    about: 'workers that were not seen, limits and queues that were not used',
  },
  {
    ...{ path: 'retention.every', kind: span, option: 'engine.retention.everyMs', default: '1m' },
    about: 'how often the engine looks for what is too old',
  },
  {
    ...{ path: 'journal.maxBytes', kind: whole(1, 2 ** 40), option: 'engine.journal.maxBytes', default: '67108864' },
    about: 'bytes that all runs of one job may say together',
  },
];

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((one) => [one, `parentbased_${one}`]);

const LOG_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'log.level', kind: choice('debug', 'info', 'warn', 'error'), env: 'WAYBILL_LOG', default: 'info' },
    about: 'from which level on lines are logged',
  },
  {
    ...{ path: 'log.format', kind: choice('pretty', 'json'), flag: 'log-format' },
    ...{ default: 'pretty at a terminal, else json', about: 'pretty for people, json for machines' },
  },
  {
    ...{ path: 'telemetry.metrics', kind: onOrOff, env: 'WAYBILL_METRICS', flag: 'metrics', default: 'false' },
    about: 'show metrics at /metrics, for Prometheus',
  },
  {
    ...{ path: 'telemetry.endpoint', kind: collector, env: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
    about: 'the collector that gets traces and metrics',
  },
  {
    ...{ path: 'telemetry.headers', kind: text, env: 'OTEL_EXPORTER_OTLP_HEADERS', secret: true },
    about: 'sent to the collector: name=value, separated by commas',
  },
  { path: 'telemetry.service', kind: name, env: 'OTEL_SERVICE_NAME', about: 'what this process is called' },
  {
    ...{ path: 'telemetry.attributes', kind: text, env: 'OTEL_RESOURCE_ATTRIBUTES' },
    about: 'of the resource: name=value, separated by commas',
  },
  {
    ...{ path: 'telemetry.sampler', kind: choice(...SAMPLERS), env: 'OTEL_TRACES_SAMPLER' },
    ...{ default: 'parentbased_always_on', about: 'which traces are sent' },
  },
  {
    ...{ path: 'telemetry.ratio', kind: ratio, env: 'OTEL_TRACES_SAMPLER_ARG', default: '1' },
    about: 'the share of traces, for samplers by ratio',
  },
  {
    ...{ path: 'telemetry.interval', kind: span, env: 'OTEL_METRIC_EXPORT_INTERVAL', default: '1m' },
    about: 'how often metrics are sent',
  },
];

/** All keys, in the order of the documentation. Checks, translation, `config show` and docs/configuration.md come from it. */
export const KEYS: readonly ConfigKey[] = [
  ...GENERAL_KEYS,
  ...SERVER_KEYS,
  ...WORKER_KEYS,
  ...ENGINE_KEYS,
  ...HEALTH_KEYS,
  ...ALERT_KEYS,
  ...AWS_KEYS,
  ...LOG_KEYS,
];

/** Keys of our own shape, which `config show` lists. */
export const OWN_KEYS = KEYS.filter(({ standsFor }) => standsFor === undefined);
