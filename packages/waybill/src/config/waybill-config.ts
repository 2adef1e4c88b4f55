// Made of the table of keys, see config/define-config.test.ts. After a change of the table:
// npx vitest run --project together packages/waybill/src/config/define-config.test.ts --update

/** A text with a variable of the environment in it, such as `${PORT:-8080}`. */
export type Reference = `${string}\${${string}}${string}`;
/** Such as `30s`, `5m`, `2h` or `PT5M`. */
export type Span = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}` | `P${string}` | Reference;
/** Days, or a span. */
export type Days = number | `${number}` | Span;
export type Numeric = number | `${number}` | Reference;
export type Switch = boolean | 'true' | 'false' | Reference;
/** Texts, or one text in which commas separate them. */
export type Texts = readonly string[] | string;

export interface WaybillConfig {
  /** Where jobs are kept: sqlite:FILE, postgres://.., dynamodb://..; for `work` also http(s)://HOST or grpc(s)://HOST:PORT. @defaultValue sqlite:./waybill.db */
  store?: string | StoreConfig;
  /** What carries hints: poll or sqs://REGION/PREFIX. @defaultValue poll */
  transport?: string;
  /** Where large payloads go: file:FOLDER or s3://BUCKET/PREFIX. */
  blobs?: string;
  server?: ServerConfig;
  worker?: WorkerConfig;
  engine?: EngineConfig;
  retention?: RetentionConfig;
  journal?: JournalConfig;
  health?: HealthConfig;
  alerts?: AlertsConfig;
  sqs?: SqsConfig;
  dynamodb?: DynamodbConfig;
  eventBus?: EventBusConfig;
  log?: LogConfig;
  telemetry?: TelemetryConfig;
}

export interface StoreConfig {
  /** Names the block below: SQS with DynamoDB. */
  type?: 'sqs' | Reference;
  aws?: StoreAwsConfig;
  sqs?: StoreSqsConfig;
  dynamodb?: StoreDynamodbConfig;
}

export interface StoreAwsConfig {
  /** Both regions. */
  region?: string;
}

export interface StoreSqsConfig {
  /** The URL of a queue. */
  queues?: Readonly<Record<string, string>>;
  /** Lease of a claim that names none, in seconds. */
  default_visibility_timeout_seconds?: Numeric;
}

export interface StoreDynamodbConfig {
  /** The table. */
  jobs_table?: string;
  /** Accepted with a notice: one table holds jobs and what their runs say. */
  events_table?: string;
  /** Days for which the journal is kept; 0: as long as its job. */
  events_ttl_days?: Days;
}

export interface ServerConfig {
  /** Address to listen on. @defaultValue 127.0.0.1 */
  host?: string;
  /** Port to listen on; 0 takes any free one. @defaultValue 8080 */
  port?: Numeric;
  /** Port for gRPC; 0 takes any free one. @defaultValue none */
  grpcPort?: Numeric;
  tls?: ServerTlsConfig;
  /** Ask for keys on loopback too. @defaultValue beyond loopback */
  auth?: Switch;
  /** Take calls without a key, also beyond loopback. @defaultValue false */
  noAuth?: Switch;
  /** Keys that no store keeps, as `waybill keys create --print-entry` prints them. */
  keys?: string;
  /** A file with such keys. */
  keysFile?: string;
  /** What lease tokens are signed with. @defaultValue a key in the store */
  tokenSecret?: string;
  /** A file with that secret. */
  tokenSecretFile?: string;
  jwt?: ServerJwtConfig;
  /** How long a session lasts. @defaultValue 12 */
  sessionHours?: Numeric;
  /** Of each key that has no limit of its own. */
  requestsPerMinute?: Numeric;
  /** Requests of each key under way at once. @defaultValue half of the connections */
  openRequests?: Numeric;
  /** Origins whose pages may call. */
  cors?: Texts;
  /** Believe X-Forwarded-* of proxies. @defaultValue false */
  trustProxy?: Switch;
  /** Ranges of addresses that are proxies. @defaultValue private addresses */
  proxies?: Texts;
  /** Names that a request may give as its Host, besides localhost. */
  allowedHosts?: Texts;
  /** Connections at the same time. @defaultValue 10000 */
  maxConnections?: Numeric;
  /** Refuse to settle a job without its lease token. @defaultValue false */
  requireLease?: Switch;
  /** Let jobs steer their workers, for conformance suites. @defaultValue false */
  testDirectives?: Switch;
  /** Private ranges that webhooks may go to, over plain http too. */
  webhookTargets?: Texts;
  /** Let webhooks go to private ranges and over plain http. @defaultValue false */
  allowPrivateWebhooks?: Switch;
}

export interface ServerTlsConfig {
  /** Speak HTTPS with the certificate in this file. */
  cert?: string;
  /** The file with its key. */
  key?: string;
}

export interface ServerJwtConfig {
  /** Take tokens of this issuer. */
  issuer?: string;
  /** That are for this audience. */
  audience?: string;
  /** Its public keys: https://.. or a file. */
  jwks?: string;
  /** The tenant of tokens that name none. */
  tenant?: string;
}

export interface WorkerConfig {
  /** The ES module that exports the tasks. */
  module?: string;
  /** Handlers at a time. @defaultValue 10 */
  concurrency?: Numeric;
  /** Runs at a time that have processes of their own. @defaultValue 3, or concurrency where all have */
  processes?: Numeric;
  /** Queues, as a list, or by name with their weights. @defaultValue those of the tasks */
  queues?: Texts | Readonly<Record<string, Numeric | WorkerQueuesItemConfig>>;
  /** Handlers at a time of single queues, by name. */
  bounds?: Readonly<Record<string, Numeric>>;
  /** Fair: by weight; strict: an earlier queue always goes first. @defaultValue fair */
  order?: 'fair' | 'strict' | Reference;
  /** How long a stop waits for running handlers. @defaultValue 25s */
  grace?: Span;
  /** How long a stop takes at most, ending what still runs included; at least 2s. */
  stopWithin?: Span;
  /** Lease of a run. @defaultValue 30s */
  lease?: Span;
  /** How often a lease is extended; less than the lease. @defaultValue 20s */
  heartbeat?: Span;
  /** Jobs that are claimed ahead of need. @defaultValue as the runs allow */
  prefetch?: Numeric;
  /** A folder in which what runs say is durable before it is sent. @defaultValue none */
  outbox?: string;
  /** Run the programs of `waybill exec`, as the user of this worker. @defaultValue false */
  exec?: Switch;
  program?: WorkerProgramConfig;
  /** Whose jobs `work` runs. */
  tenant?: string;
  /** The API key of `work`, where the store is a server. */
  key?: string;
}

export interface WorkerQueuesItemConfig {
  /** The weight of a queue. @defaultValue 1 */
  weight?: Numeric;
  /** Handlers of this queue at a time. */
  concurrency?: Numeric;
}

export interface WorkerProgramConfig {
  /** A program that is a task; /bin/sh -c runs this text for each job. */
  command?: string;
  /** The type of its jobs, like py.step. */
  type?: string;
  /** The folder in which programs run. */
  cwd?: string;
  /** How long a program may run. */
  timeout?: Span;
  /** Megabytes of memory of a program and all that it starts. */
  memoryMb?: Numeric;
  /** Processor time of a program and all that it starts. */
  cpu?: Span;
  /** Megabytes that a program may print. @defaultValue 64 */
  maxOutputMb?: Numeric;
  /** Variables that programs get besides PATH, LANG and a few more. */
  inheritEnv?: Texts;
}

export interface EngineConfig {
  /** Lease of a claim that names none, whose job names none. @defaultValue 5m */
  lease?: Span;
  /** Longest pause between two looks at due jobs. @defaultValue 1s */
  sweep?: Span;
}

export interface RetentionConfig {
  /** How long finished jobs are kept. @defaultValue 7d */
  finished?: Days;
  /** Dead letters whose jobs do not say for how long. @defaultValue 90d */
  dead?: Days;
  /** Events. @defaultValue 7d */
  events?: Days;
  /** What runs have said; 0 keeps it for as long as its job. @defaultValue 30d */
  journal?: Days;
  /** Workers that were not seen, limits and queues that were not used. @defaultValue 30d */
  unused?: Days;
  /** How often the engine looks for what is too old. @defaultValue 1m */
  every?: Span;
}

export interface JournalConfig {
  /** Bytes that all runs of one job may say together. @defaultValue 67108864 */
  maxBytes?: Numeric;
}

export interface HealthConfig {
  /** Look at everything again and again, and keep incidents. @defaultValue true */
  rounds?: Switch;
  /** From one look to the next, on whichever server. @defaultValue 5m */
  every?: Span;
  /** Checks that are not run. @defaultValue none */
  off?: Texts;
  jobs?: HealthJobsConfig;
  tasks?: Readonly<Record<string, HealthTasksItemConfig>>;
  queueAge?: HealthQueueAgeConfig;
  queues?: Readonly<Record<string, HealthQueuesItemConfig>>;
  deadLetters?: HealthDeadLettersConfig;
  lateCrons?: HealthLateCronsConfig;
  sinkLag?: HealthSinkLagConfig;
  liveWorkers?: HealthLiveWorkersConfig;
  sweepLag?: HealthSweepLagConfig;
  clockSkew?: HealthClockSkewConfig;
}

export interface HealthJobsConfig {
  /** Since the last sign of life of a run: above this it is a warning. @defaultValue 5m */
  warning?: Span;
  /** Since the last sign of life of a run: above this it is critical. @defaultValue 10m */
  critical?: Span;
  /** A run that goes on for longer is critical, whatever its heartbeats. @defaultValue 1h */
  overtime?: Span;
}

export interface HealthTasksItemConfig {
  /** The same for one type of jobs: above this it is a warning. */
  warning?: Span;
  /** The same for one type of jobs: above this it is critical. */
  critical?: Span;
  /** A run that goes on for longer is critical, whatever its heartbeats. */
  overtime?: Span;
}

export interface HealthQueueAgeConfig {
  /** How long the next job of a queue has waited: above this it is a warning. @defaultValue 5m */
  warning?: Span;
  /** How long the next job of a queue has waited: above this it is critical. @defaultValue 30m */
  critical?: Span;
}

export interface HealthQueuesItemConfig {
  /** The same for one queue: above this it is a warning. */
  warning?: Span;
  /** The same for one queue: above this it is critical. */
  critical?: Span;
}

export interface HealthDeadLettersConfig {
  /** More dead letters of a tenant are a warning. @defaultValue 0 */
  warning?: Numeric;
  /** More dead letters of a tenant are critical. @defaultValue 100 */
  critical?: Numeric;
}

export interface HealthLateCronsConfig {
  /** How late a schedule is: above this it is a warning. @defaultValue 1m */
  warning?: Span;
  /** How late a schedule is: above this it is critical. @defaultValue 10m */
  critical?: Span;
}

export interface HealthSinkLagConfig {
  /** Age of the oldest event that a sink has not delivered: above this it is a warning. @defaultValue 5m */
  warning?: Span;
  /** Age of the oldest event that a sink has not delivered: above this it is critical. @defaultValue 1h */
  critical?: Span;
}

export interface HealthLiveWorkersConfig {
  /** Jobs that wait for longer while no worker is live are critical. @defaultValue 1m */
  none?: Span;
  /** Jobs that wait for longer in a queue where none runs are a warning. @defaultValue 5m */
  unserved?: Span;
}

export interface HealthSweepLagConfig {
  /** How far maintenance is behind: above this it is a warning. @defaultValue 30s */
  warning?: Span;
  /** How far maintenance is behind: above this it is critical. @defaultValue 5m */
  critical?: Span;
}

export interface HealthClockSkewConfig {
  /** How far the clocks of servers differ: above this it is a warning. @defaultValue 5s */
  warning?: Span;
  /** How far the clocks of servers differ: above this it is critical. @defaultValue 1m */
  critical?: Span;
}

export interface AlertsConfig {
  /** Incidents that are milder send no alert. @defaultValue warning */
  from?: 'low' | 'warning' | 'high' | 'critical' | Reference;
  slack?: AlertsSlackConfig;
  webhook?: AlertsWebhookConfig;
  /** Write incidents to the log of the server. @defaultValue false */
  log?: Switch;
}

export interface AlertsSlackConfig {
  /** Of the bot that writes to Slack. */
  token?: string;
  /** The channel that the bot writes to. */
  channel?: string;
  /** An incoming webhook of Slack, in place of a bot. */
  webhook?: string;
}

export interface AlertsWebhookConfig {
  /** Any receiver of webhooks. */
  url?: string;
  /** What its deliveries are signed with. */
  secret?: string;
}

export interface SqsConfig {
  /** Region of the queues. @defaultValue as the AWS SDK finds it */
  region?: string;
  /** Begins the name of every queue. @defaultValue waybill */
  prefix?: string;
  /** Another address than the region’s, for example of an emulator. */
  endpoint?: string;
  /** How long one receive or one extension hides a message at most. @defaultValue as long as the lease */
  visibilitySeconds?: Numeric;
  /** Comes behind the prefix in the names of queues. */
  env?: string;
  /** The URL of the queue for a job queue; it is never created. */
  queues?: Readonly<Record<string, string | SqsQueuesItemConfig>>;
  /** Make queues that do not exist. @defaultValue true */
  createQueues?: Switch;
  /** Job queues in which messages of foreign producers become jobs. */
  adopt?: Texts;
  timeouts?: SqsTimeoutsConfig;
}

export interface SqsQueuesItemConfig {
  /** The URL of its queue 'default'. */
  default?: string;
  /** The URL of its queue 'high'. */
  high?: string;
  /** The URL of its queue 'low'. */
  low?: string;
  /** The URL of its queue 'redrive'. */
  redrive?: string;
  /** The URL of its queue 'dead'. */
  dead?: string;
}

export interface SqsTimeoutsConfig {
  /** Until a connection is open. @defaultValue 2s */
  connect?: Span;
  /** One request with its answer. @defaultValue 4s */
  request?: Span;
  /** One call with its repetitions; at least `request`. @defaultValue 10s */
  call?: Span;
}

export interface DynamodbConfig {
  /** The table; makes DynamoDB the store. */
  table?: string;
  /** Region of the table. @defaultValue as the AWS SDK finds it */
  region?: string;
  /** Another address than the region’s, for example of DynamoDB Local. */
  endpoint?: string;
  /** None: jobs are claimed only as SQS hints at them. @defaultValue index */
  ready?: 'index' | 'none' | Reference;
  /** Make a table that does not exist. @defaultValue true */
  createTable?: Switch;
  shards?: DynamodbShardsConfig;
  /** Items in one transaction at most. @defaultValue 100 */
  largestTransaction?: Numeric;
  timeouts?: DynamodbTimeoutsConfig;
}

export interface DynamodbShardsConfig {
  /** Shards of alarms; never fewer again. @defaultValue 1 */
  due?: Numeric;
  /** Shards of every queue that is not named. @defaultValue 1 */
  queue?: Numeric;
  /** Shards of one queue. */
  queues?: Readonly<Record<string, Numeric>>;
}

export interface DynamodbTimeoutsConfig {
  /** Until a connection is open. @defaultValue 2s */
  connect?: Span;
  /** One request with its answer. @defaultValue 4s */
  request?: Span;
  /** One call with its repetitions; at least `request`. @defaultValue 10s */
  call?: Span;
}

export interface EventBusConfig {
  /** Send what happens to this bus of EventBridge. @defaultValue none */
  name?: string;
  /** The application that the events are of. @defaultValue waybill */
  app?: string;
  /** The environment that the events name. @defaultValue production */
  environment?: string;
  /** Region of the bus. @defaultValue as the AWS SDK finds it */
  region?: string;
  /** Another address than the region’s, for example of an emulator. */
  endpoint?: string;
}

export interface LogConfig {
  /** From which level on lines are logged. @defaultValue info */
  level?: 'debug' | 'info' | 'warn' | 'error' | Reference;
  /** Pretty for people, json for machines. @defaultValue pretty at a terminal, else json */
  format?: 'pretty' | 'json' | Reference;
}

export interface TelemetryConfig {
  /** Show metrics at /metrics, for Prometheus. @defaultValue false */
  metrics?: Switch;
  /** The collector that gets traces and metrics. */
  endpoint?: string;
  /** Sent to the collector: name=value, separated by commas. */
  headers?: string;
  /** What this process is called. */
  service?: string;
  /** Of the resource: name=value, separated by commas. */
  attributes?: string;
  /** Which traces are sent. @defaultValue parentbased_always_on */
  sampler?:
    | 'always_on'
    | 'parentbased_always_on'
    | 'always_off'
    | 'parentbased_always_off'
    | 'traceidratio'
    | 'parentbased_traceidratio'
    | Reference;
  /** The share of traces, for samplers by ratio. @defaultValue 1 */
  ratio?: Numeric;
  /** How often metrics are sent. @defaultValue 1m */
  interval?: Span;
}
