import type { ConfigKey } from './config-key.ts';
import { choice, daysOrZero, endpoint, type Kind, list, name, onOrOff, span, whole } from './kinds.ts';

const part: Kind = { is: 'text', pattern: /^[A-Za-z0-9_-]{1,40}$/, rule: 'must be 1 to 40 letters, digits and _ -' };
const region: Kind = { is: 'text', pattern: /^[a-z0-9-]{2,40}$/, rule: 'must be a region like eu-west-1' };
const table: Kind = {
  is: 'text',
  pattern: /^[a-zA-Z0-9_.-]{3,255}$/,
  rule: 'must be 3 to 255 letters, digits and . _ -',
};
const bus: Kind = {
  is: 'text',
  pattern: /^[A-Za-z0-9._/:-]{1,256}$/,
  rule: 'must be the name or the ARN of an event bus',
};
const app: Kind = {
  is: 'text',
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  rule: 'must be 1 to 64 letters, digits and . _ -',
};
const queueUrl: Kind = {
  is: 'address',
  pattern: /^https?:\/\/[^/?#@\\]+\/[^?#@]+$/i,
  rule: 'must be the URL of a queue, like https://sqs.eu-west-1.amazonaws.com/123456789012/jobs',
};

const timeoutsOf = (section: 'sqs' | 'dynamodb'): ConfigKey[] => [
  {
    ...{ path: `${section}.timeouts.connect`, kind: span, option: `${section}.timeouts.connectMs`, default: '2s' },
    about: 'until a connection is open',
  },
  {
    ...{ path: `${section}.timeouts.request`, kind: span, option: `${section}.timeouts.requestMs`, default: '4s' },
    about: 'one request with its answer',
  },
  {
    ...{ path: `${section}.timeouts.call`, kind: span, option: `${section}.timeouts.callMs`, default: '10s' },
    about: 'one call with its repetitions; at least `request`',
  },
];

/** The data among the options of the SQS transport and of the DynamoDB store, and the block that names both at once. */
export const AWS_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'sqs.region', kind: region, option: 'sqsAddress.region', partOf: 'transport' },
    ...{ default: 'as the AWS SDK finds it', about: 'region of the queues' },
  },
  {
    ...{ path: 'sqs.prefix', kind: part, option: 'sqsAddress.prefix', partOf: 'transport', default: 'waybill' },
    about: 'begins the name of every queue',
  },
  {
    ...{ path: 'sqs.endpoint', kind: endpoint, option: 'sqsAddress.endpoint', partOf: 'transport' },
    about: 'another address than the region’s, for example of an emulator',
  },
  {
    ...{ path: 'sqs.visibilitySeconds', kind: whole(1, 43_200), option: 'sqsAddress.visibility', partOf: 'transport' },
    ...{ default: 'as long as the lease', about: 'how long one receive or one extension hides a message at most' },
  },
  { path: 'sqs.env', kind: part, option: 'sqs.env', about: 'comes behind the prefix in the names of queues' },
  {
    ...{ path: 'sqs.queues.*', kind: queueUrl, option: 'sqs.queues.*.default' },
    about: 'the URL of the queue for a job queue; it is never created',
  },
  ...(['default', 'high', 'low', 'redrive', 'dead'] as const).map(
    (one): ConfigKey => ({
      ...{ path: `sqs.queues.*.${one}`, kind: queueUrl, option: `sqs.queues.*.${one}` },
      about: `the URL of its queue '${one}'`,
    }),
  ),
  {
    ...{ path: 'sqs.createQueues', kind: onOrOff, option: 'sqs.createQueues', default: 'true' },
    about: 'make queues that do not exist',
  },
  {
    ...{ path: 'sqs.adopt', kind: list, option: 'sqs.adopt' },
    about: 'job queues in which messages of foreign producers become jobs',
  },
  ...timeoutsOf('sqs'),
  {
    ...{ path: 'dynamodb.table', kind: table, option: 'dynamodbAddress.table', partOf: 'store' },
    about: 'the table; makes DynamoDB the store',
  },
  {
    ...{ path: 'dynamodb.region', kind: region, option: 'dynamodbAddress.region', partOf: 'store' },
    ...{ default: 'as the AWS SDK finds it', about: 'region of the table' },
  },
  {
    ...{ path: 'dynamodb.endpoint', kind: endpoint, option: 'dynamodbAddress.endpoint', partOf: 'store' },
    about: 'another address than the region’s, for example of DynamoDB Local',
  },
  {
    ...{ path: 'dynamodb.ready', kind: choice('index', 'none'), option: 'dynamodbAddress.ready', partOf: 'store' },
    ...{ default: 'index', about: 'none: jobs are claimed only as SQS hints at them' },
  },
  {
    ...{ path: 'dynamodb.createTable', kind: onOrOff, option: 'dynamodb.createTable', default: 'true' },
    about: 'make a table that does not exist',
  },
  {
    ...{ path: 'dynamodb.shards.due', kind: whole(1, 256), option: 'dynamodb.shards.due', default: '1' },
    about: 'shards of alarms; never fewer again',
  },
  {
    ...{ path: 'dynamodb.shards.queue', kind: whole(1, 256), option: 'dynamodb.shards.queue', default: '1' },
    about: 'shards of every queue that is not named',
  },
  {
    ...{ path: 'dynamodb.shards.queues.*', kind: whole(1, 256), option: 'dynamodb.shards.queues.*' },
    about: 'shards of one queue',
  },
  {
    ...{ path: 'dynamodb.largestTransaction', kind: whole(1, 100), option: 'dynamodb.largestTransaction' },
    ...{ default: '100', about: 'items in one transaction at most' },
  },
  ...timeoutsOf('dynamodb'),
  {
    ...{ path: 'eventBus.name', kind: bus, env: 'WAYBILL_EVENT_BUS', flag: 'event-bus', default: 'none' },
    about: 'send what happens to this bus of EventBridge',
  },
  {
    ...{ path: 'eventBus.app', kind: app, env: 'WAYBILL_EVENT_APP', flag: 'event-app', default: 'waybill' },
    about: 'the application that the events are of',
  },
  {
    ...{ path: 'eventBus.environment', kind: app, option: 'eventBus.environment', default: 'production' },
    about: 'the environment that the events name',
  },
  {
    ...{ path: 'eventBus.region', kind: region, option: 'eventBus.region', default: 'as the AWS SDK finds it' },
    about: 'region of the bus',
  },
  {
    ...{ path: 'eventBus.endpoint', kind: endpoint, option: 'eventBus.endpoint' },
    about: 'another address than the region’s, for example of an emulator',
  },
  { path: 'store.type', kind: choice('sqs'), standsFor: [], about: 'names the block below: SQS with DynamoDB' },
  { path: 'store.aws.region', kind: region, standsFor: ['sqs.region', 'dynamodb.region'], about: 'both regions' },
  { path: 'store.sqs.queues.*', kind: queueUrl, standsFor: ['sqs.queues.*'], about: 'the URL of a queue' },
  {
    ...{ path: 'store.sqs.default_visibility_timeout_seconds', kind: whole(1, 43_200), standsFor: ['engine.lease'] },
    about: 'lease of a claim that names none, in seconds',
  },
  { path: 'store.dynamodb.jobs_table', kind: name, standsFor: ['dynamodb.table'], about: 'the table' },
  {
    ...{ path: 'store.dynamodb.events_table', kind: name, standsFor: [] },
    about: 'accepted with a notice: one table holds jobs and what their runs say',
  },
  {
    ...{ path: 'store.dynamodb.events_ttl_days', kind: daysOrZero, standsFor: ['retention.journal'] },
    about: 'days for which the journal is kept; 0: as long as its job',
  },
];
