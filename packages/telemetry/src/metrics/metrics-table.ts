/** What one metric is: the docs, the dashboard and the alert rules are held to this table. */
export interface MetricInfo {
  readonly name: string;
  readonly kind: 'counter' | 'up-down counter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly description: string;
  /** Besides `tenant`, where that was asked for. */
  readonly attributes: readonly string[];
}

const counter = (name: string, unit: string, description: string, attributes: readonly string[] = []): MetricInfo => ({
  ...{ name, kind: 'counter', unit, description, attributes },
});
const upDown = (name: string, unit: string, description: string, attributes: readonly string[]): MetricInfo => ({
  ...{ name, kind: 'up-down counter', unit, description, attributes },
});
const seconds = (name: string, description: string, attributes: readonly string[] = []): MetricInfo => ({
  ...{ name, kind: 'histogram', unit: 's', description, attributes },
});
const gauge = (name: string, unit: string, description: string, attributes: readonly string[] = []): MetricInfo => ({
  ...{ name, kind: 'gauge', unit, description, attributes },
});

const TABLE = {
  enqueued: counter('waybill.jobs.enqueued.total', '{job}', 'Jobs that were made.', ['queue']),
  dequeued: counter('waybill.jobs.dequeued.total', '{job}', 'Jobs that were claimed.', ['queue']),
  completed: counter('waybill.jobs.completed.total', '{job}', 'Jobs that ended, by state.', ['queue', 'state']),
  retried: counter('waybill.jobs.retried.total', '{run}', 'Failed runs whose job is tried again.', ['queue']),
  visibilityUpdates: counter('waybill.jobs.visibility_updates.total', '{lease}', 'Leases that were prolonged.'),
  leasesLost: counter('waybill.leases.lost.total', '{lease}', 'Leases that ran out before their run was settled.', [
    'queue',
  ]),
  deadLettered: counter('waybill.dead_letters.total', '{job}', 'Jobs that became dead letters.', ['queue']),
  wait: seconds('waybill.job.wait.duration', 'From the moment that a job could start to its claim.', ['queue']),
  run: seconds('waybill.job.run.duration', 'Runs of handlers.', ['queue', 'type', 'outcome']),
  sweepLag: gauge('waybill.sweep.lag', 's', 'How late the last sweep looked at its oldest due row.'),
  storeDuration: seconds('waybill.store.operation.duration', 'Calls of stores, transports and blob stores.', [
    'store',
    'operation',
  ]),
  storeErrors: counter(
    'waybill.store.errors.total',
    '{call}',
    'Calls of stores, transports and blob stores that failed.',
    ['store', 'operation'],
  ),
  dynamoOperations: counter('waybill.dynamodb.operations.total', '{call}', 'Calls of DynamoDB.', ['operation']),
  dynamoThrottles: counter('waybill.dynamodb.throttles.total', '{call}', 'Calls that DynamoDB throttled.', [
    'operation',
  ]),
  dynamoBatchRetries: counter('waybill.dynamodb.batch_retries.total', '{call}', 'Batches whose rest was sent again.', [
    'operation',
  ]),
  http: seconds('waybill.http.request.duration', 'Requests to the server.', ['method', 'route', 'status']),
  rpc: seconds('waybill.rpc.server.duration', 'Calls of the RPC interface, streams to their end.', ['method', 'code']),
  sinkDeliveries: counter('waybill.sink.deliveries.total', '{event}', 'Events that sinks tried to deliver.', [
    'sink',
    'outcome',
  ]),
  published: counter('waybill.events.publish.total', '{call}', 'Calls that publish what runs say, at the store.', [
    'success',
  ]),
  publishErrors: counter('waybill.events.publish.errors.total', '{call}', 'Calls to publish that failed.', [
    'error_type',
  ]),
  publishDuration: seconds('waybill.events.publish.duration', 'Calls that publish what runs say, at the store.'),
  persisted: counter('waybill.events.persisted.total', '{entry}', 'Entries of journals that were stored.'),
  dropped: counter('waybill.events.dropped.total', '{entry}', 'Entries that runs have said and that are not stored.', [
    'reason',
  ]),
  streams: upDown('waybill.streams.active', '{stream}', 'Streams that are open now, of HTTP and RPC.', ['kind']),
  replayDuration: seconds(
    'waybill.streams.historical_replay.duration',
    'From the begin of a follower to the end of what was there before it.',
  ),
  replayed: counter(
    'waybill.streams.historical_replay.events.total',
    '{entry}',
    'Entries that followers read before they were live.',
  ),
  overflow: counter(
    'waybill.channels.overflow.total',
    '{reader}',
    'Readers that were cut off, because they took nothing for too long.',
    ['kind'],
  ),
  spansDropped: counter('waybill.spans.dropped.total', '{span}', 'Spans that no collector got.', ['reason']),
  queueDepth: gauge('waybill.queue.depth', '{job}', 'Jobs in a queue, by state.', ['queue', 'state']),
  oldestAge: gauge('waybill.queue.oldest_age', 's', 'How long the oldest claimable job has waited.', ['queue']),
  deadLetters: gauge('waybill.dead_letters', '{job}', 'Dead letters that wait for people; counted up to 10,000.'),
  workers: gauge('waybill.workers', '{worker}', 'Workers that were seen of late, by state.', ['state']),
  readingAge: gauge(
    'waybill.store.reading.age',
    's',
    'How long ago queues, dead letters, workers and sinks were counted in the store.',
  ),
  pausedSinks: gauge('waybill.sinks.paused', '{sink}', 'Webhooks and other sinks that are paused after long failure.'),
  utilisation: gauge('waybill.worker.utilisation', '1', 'Runs under way, by slots of this process.'),
} satisfies Record<string, MetricInfo>;

export type MetricKey = keyof typeof TABLE;

/** Every metric of Waybill by a short key. */
export const METRIC: Readonly<Record<MetricKey, MetricInfo>> = TABLE;

/** Every metric of Waybill. */
export const METRICS: readonly MetricInfo[] = Object.values(TABLE);
