import { BAD_GATE_FIELDS, BAD_SIGNALS } from './bad-gates.ts';
import { BAD_RULES } from './bad-rules.ts';

const ID = '019539a4-0000-7000-8000-000000000000';
const UUID_V4 = '550e8400-e29b-41d4-a716-446655440000';
const JOB = { type: 'a.b', args: [] };

export const GOOD_CRON = { name: 'a', expression: '* * * * *', job_template: JOB };

const node = (id: string, ...depends_on: string[]) => ({ id, depends_on, ...JOB });
const many = <T>(length: number, item: T): T[] => Array.from({ length }, () => item);
const long = (length: number): string => 'x'.repeat(length);

export interface BadFields {
  /** @defaultValue 'post' */
  method?: 'post' | 'put';
  path: string;
  /** A body that would be taken. */
  good: object;
  /** Values that each make it one that is not, by field. */
  bad: Record<string, unknown[]>;
}

const WORKER_ID = [1, '', {}, long(257)];
const LEASE_TOKEN = [1, '', false, [], long(4_097)];
const JOB_ID = [undefined, null, 1, '', 'x', [ID], UUID_V4, ID.toUpperCase()];
const LIMIT = [0, -1, 1.5, '1', [], 1e9];
const LENGTH_MS = [0, -1, 1.5, '1', [], true, 1e15, 1e300];

export const BAD_FIELDS: BadFields[] = [
  {
    path: '/ojs/v1/jobs',
    good: JOB,
    bad: {
      type: [undefined, null, 1, '', 'Upper.Case', '1a', 'a b', 'a@b!', long(256)],
      args: [undefined, null, {}, 'a', 1, true],
      specversion: ['2.0', '1', 1],
      timeout: [-1, 1.5, '1', 1e15],
      id: [1, '', 'x', {}, UUID_V4, ID.toUpperCase()],
      meta: ['x', [], 1],
      options: ['x', [], 1],
      'options.queue': [1, '', 'Default', '-a', 'a b', 'q!', long(129)],
      'options.priority': [101, -101, 999_999, 1.5, '1', {}],
      'options.timeout_ms': LENGTH_MS,
      'options.visibility_timeout_ms': LENGTH_MS,
      'options.scheduled_at': [5, '', 'soon', '+PT', '+-PT5S', '2030-13-01T00:00:00Z', '2030-01-01'],
      'options.delay_until': [5, '-PT5S', '9999-01-01T00:00:00Z', '1960-01-01T00:00:00Z'],
      'options.expires_at': [{}, 'never', '+P1Y'],
      'options.pending': ['yes', 1],
      'options.tags': ['a', [1], many(101, 'a')],
      tags: ['a', [1]],
      'options.unique': [
        ...[
          'x',
          [],
          1,
          { keys: ['argz'] },
          { keys: 'args' },
          { keys: ['meta'] },
          { keys: ['args'], args_keys: ['no'] },
        ],
        ...[{ states: [] }, { states: ['odd'] }, { period: 'PT0S' }, { period: 'P36500D' }, { on_conflict: 'explode' }],
        ...[
          { key: 'a' },
          { key: [1] },
          { key: ['a'], keys: ['args'] },
          { period_ms: 0 },
          { period_ms: '1' },
          { kyes: ['args'] },
        ],
        ...[{ period: 'PT1S', period_ms: 2_000 }],
      ],
      'options.rate_limit': [
        ...[
          'x',
          [],
          1,
          {},
          { key: 'a', throttle: 5 },
          { key: long(1_025), concurrency: 1 },
          { key: 'a b', concurrency: 1 },
        ],
        ...[{ concurrency: 0 }, { max_per_second: 0 }, { rate: 0 }, { rate: { limit: 1, period: 'P36500D' } }],
        ...[
          { max_per_second: 1, max_per_minute: 1, rate: 1 },
          { concurrency: 1, on_limit: 'explode' },
          { concurrency: 1, rates: 5 },
          { rate: { limit: 1, period: 'PT1S', burst: 2 } },
        ],
      ],
    },
  },
  {
    path: '/ojs/v1/jobs/batch',
    good: { jobs: [JOB] },
    bad: { jobs: [undefined, null, {}, [], [1], [JOB, null], [JOB, { ...JOB, type: 1 }], many(1_001, JOB)] },
  },
  {
    path: '/ojs/v1/workers/fetch',
    good: { queues: ['default'] },
    bad: {
      queues: [undefined, null, [], 'default', {}, [1], [''], ['A'], many(101, 'a')],
      count: [0, -1, 1_001, 1e12, 1.5, '1', {}],
      worker_id: WORKER_ID,
      visibility_timeout_ms: LENGTH_MS,
      claim_id: [1, '', 'short', 'a b c d e', long(65)],
      wait_ms: [-1, 30_001, 1.5, true, '1'],
    },
  },
  {
    path: '/ojs/v1/workers/ack',
    good: { job_id: ID },
    bad: { job_id: JOB_ID, lease_token: LEASE_TOKEN, worker_id: WORKER_ID },
  },
  {
    path: '/ojs/v1/workers/nack',
    good: { job_id: ID },
    bad: {
      job_id: JOB_ID,
      lease_token: LEASE_TOKEN,
      worker_id: WORKER_ID,
      requeue: ['true', 1, {}],
      error: ['broken', [], 1],
      'error.code': [1, {}, long(256)],
      'error.message': [{}, 1],
      'error.type': [5, [], long(256)],
      'error.retryable': ['no', 0],
      outcome: ['', 'completed', 'failed', 'requeued', 1, 'snoozed'],
      snooze_until: ['2030-01-01T00:00:00Z'],
      reason: ['x'],
      dead_letter: [true],
    },
  },
  {
    path: '/ojs/v1/workers/nack',
    good: { job_id: ID, outcome: 'snoozed', snooze_until: '2030-01-01T00:00:00Z' },
    bad: {
      snooze_until: [
        undefined,
        null,
        5,
        '',
        'soon',
        '+PT5M',
        '2030-01-01',
        '1960-01-01T00:00:00Z',
        '2251-01-01T00:00:00Z',
      ],
      error: [{}],
      requeue: [true, false],
      reason: ['x'],
      dead_letter: [true],
    },
  },
  {
    path: '/ojs/v1/workers/nack',
    good: { job_id: ID, outcome: 'snoozed', error: { code: 'unknown_type' } },
    bad: {
      snooze_until: ['2030-01-01T00:00:00Z', 'soon'],
      error: [undefined, null, 'x', []],
      'error.code': [1],
      requeue: [true],
      reason: ['x'],
      dead_letter: [true],
    },
  },
  {
    path: '/ojs/v1/workers/nack',
    good: { job_id: ID, outcome: 'cancelled' },
    bad: {
      reason: [1, {}, long(1_025)],
      error: [{}],
      requeue: [true],
      dead_letter: [false],
      snooze_until: ['2030-01-01T00:00:00Z'],
    },
  },
  {
    path: '/ojs/v1/workers/nack',
    good: { job_id: ID, outcome: 'discarded' },
    bad: {
      dead_letter: ['yes', 1],
      error: ['x'],
      requeue: [true],
      reason: ['x'],
      snooze_until: ['2030-01-01T00:00:00Z'],
    },
  },
  {
    path: '/ojs/v1/workers/w/directive',
    good: { directive: 'quiet' },
    bad: { directive: [undefined, null, '', 'stop', 1] },
  },
  {
    path: `/ojs/v1/jobs/${ID}/journal`,
    good: { entries: [{ sequence: 1, type: 'output', output: 'x' }] },
    bad: {
      worker_id: WORKER_ID,
      lease_token: LEASE_TOKEN,
      entry: [1],
      entries: [
        ...[undefined, null, 1, 'x', {}, [], [1], [null], [{}], ['x']],
        [{ type: 'output', output: 'x' }],
        [{ sequence: -1, type: 'note' }],
        [{ sequence: 1.5, type: 'note' }],
        [{ sequence: '1', type: 'note' }],
        [{ sequence: 2 ** 53, type: 'note' }],
        [{ sequence: 1 }],
        [{ sequence: 1, type: '' }],
        [{ sequence: 1, type: 'a b' }],
        [{ sequence: 1, type: 'x'.repeat(129) }],
        [{ sequence: 1, type: 'note', time: 1 }],
        [{ sequence: 1, type: 'note', time: 'yesterday' }],
        [{ sequence: 1, type: 'output', output: 1 }],
        [{ sequence: 1, type: 'output', output_base64: '*' }],
        [{ sequence: 1, type: 'output', output: 'x', stream: 'stdin' }],
        [{ sequence: 1, type: 'note', run: 1 }],
      ],
    },
  },
  {
    path: '/ojs/v1/workers/heartbeat',
    good: { worker_id: 'w' },
    bad: {
      worker_id: [undefined, null, ...WORKER_ID],
      active_jobs: [
        ID,
        -1,
        1.5,
        {},
        [1],
        [null],
        ['x'],
        [{}],
        [{ id: 'x' }],
        [{ id: ID, lease_token: 1 }],
        many(1_001, ID),
      ],
      active_job_ids: [ID, 1, {}, [1], ['x'], [{ id: ID }], many(1_001, ID)],
      visibility_timeout_ms: LENGTH_MS,
    },
  },
  {
    path: '/ojs/v1/dead-letter/retry',
    good: { confirm: true },
    bad: {
      confirm: [undefined, null, false, 'true', 1],
      filter: [[], 'a', { unknown: 'x' }],
      'filter.queue': [1, '', 'A'],
      'filter.type': [[], ''],
      'filter.error_type': [1],
      'filter.since': [5, 'yesterday'],
      'filter.until': ['2030'],
      'filter.workflow_id': [1, 'x'],
      'filter.created_after': [5, 'x'],
      limit: [0, -1, 1.5, '1', 1_001],
    },
  },
  {
    path: '/ojs/v1/cron',
    good: GOOD_CRON,
    bad: {
      name: [undefined, null, 1, '', 'Upper', 'a b', '-a', 'a/b', long(256)],
      expression: [undefined, null, 5, ['* * * * *'], long(256)],
      timezone: [5, {}],
      overlap_policy: ['', 'explode', 1],
      misfire_policy: ['', 'explode', 1],
      catch_up_limit: [0, -1, 1.5, '1', 1e9],
      enabled: ['yes', 1],
      description: [1, {}, long(1_025)],
      job_template: ['x', [], 1, {}, { args: [] }, { type: 'a.b' }, { ...JOB, id: ID }],
      'job_template.options': ['x', { queue: 'A' }, { unique: {} }],
    },
  },
  {
    path: '/ojs/v1/workflows',
    good: { type: 'batch', jobs: [JOB], callbacks: { on_success: JOB } },
    bad: {
      type: [undefined, null, 'tree', 1, '', 'chain', 'dag'],
      jobs: [
        undefined,
        null,
        {},
        [],
        [1],
        [null],
        [JOB, { ...JOB, type: 'A' }],
        [{ type: 'a.b' }],
        many(10_001, JOB),
        [{ ...JOB, options: { unique: {} } }],
      ],
      name: [1, {}, long(256)],
      failure_policy: ['', 'panic', 1],
      timeout_ms: [0, -1, 1.5, '1', 366 * 86_400_000 + 1],
      callbacks: [undefined, [], {}, { on_tuesday: JOB }, { on_success: 1 }, { on_success: { type: 'a.b' } }],
    },
  },
  {
    path: '/ojs/v1/workflows',
    good: { nodes: [{ id: 'a', ...JOB }] },
    bad: {
      nodes: [
        ...[null, {}, [], [1], [JOB], [{ id: '', ...JOB }], [{ id: 'a b', ...JOB }], [{ id: long(256), ...JOB }]],
        ...[
          [{ id: 'a' }],
          [{ id: 'a', job: {} }],
          [node('a', 'a')],
          [node('a', 'b'), node('b', 'a')],
          [node('a', 'z')],
        ],
        ...[[node('a'), node('a')], [{ ...node('a'), depends_on: 'b' }], [{ ...node('a'), depends_on: [1] }]],
        [node('a', 'c'), node('b', 'a'), node('c', 'b'), node('d')],
        ...BAD_RULES.map((rules) => [node('a'), { ...node('b', 'a'), ...rules }]),
        ...BAD_SIGNALS.map((gate) => [{ id: 'a', ...gate }]),
      ],
    },
  },
  ...BAD_GATE_FIELDS,
  {
    path: '/waybill/v1/keys',
    good: { name: 'ci', scopes: ['enqueue'] },
    bad: {
      name: [undefined, null, '', 1, [], 'two\nlines', long(1_025)],
      scopes: [undefined, null, [], 'enqueue', ['root'], [1], [''], many(21, 'read')],
      queues: ['mail', [], [1], ['Not Valid'], [''], many(101, 'a')],
      types: ['a.b', [], [1], ['Not Valid'], [''], many(101, 'a.b')],
      tenant: [1, [], 'a b', '~system', long(129)],
      requests_per_minute: [0, -1, 1.5, '5', 1_000_001],
      expires_at: [5, 'soon', '', 'P90D', '2030-13-01T00:00:00Z'],
      scope: ['read'],
      secret: ['my own'],
    },
  },
  {
    method: 'put',
    path: '/ojs/v1/queues/default/limit',
    good: { concurrency: 1 },
    bad: {
      concurrency: [undefined, null, ...LIMIT],
      max_per_second: LIMIT,
      rate: [
        ...[0, -1, 1.5, '1', [], {}, { limit: 0, period: 'PT1S' }, { limit: 1 }, { limit: 1, period: 'PT0S' }],
        ...[
          { limit: 1, period: 'soon' },
          { limit: 1, period: 'P36500D' },
          { limit: 1e9, period: 'PT1S' },
        ],
      ],
      throttle: ['x', [], { limit: 1 }],
    },
  },
  {
    path: '/waybill/v1/webhooks',
    good: { url: 'https://example.com/hooks' },
    bad: {
      url: [undefined, null, 1, '', [], `https://example.com/${long(2_048)}`],
      events: ['job.*', [], [1], ['job'], ['*.job'], ['job.exploded'], many(101, 'job.*')],
      queues: ['mail', [], [1], ['A b'], many(101, 'mail')],
      job_types: ['a.b', [], [1], ['A b'], ['a..b'], [long(256)], many(101, 'a.b')],
      description: [1, [], long(1_025)],
      secret: [1, '', 'hunter2', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${long(200)}`],
      paused: ['yes', 1, {}],
    },
  },
];

/** These are refused with a code of their own. */
export const BAD_SCHEDULE_FIELDS: Record<string, unknown[]> = {
  expression: [
    ...['', ' ', 'not a valid cron', '0 0 0 0 0 0 0', '* * * * * *', '99 25 32 13 8', '*/0 * * * *', '0 0 31 2 *'],
    ...['@fortnightly', '@every 5m', '@reboot', '2026-12-01T00:00:00'],
  ],
  timezone: ['', 'EST', '+05:00', 'UTC+5', 'Nowhere/Land', '../etc/passwd'],
};

export const BAD_RETRY_FIELDS: Record<string, unknown[]> = {
  'options.retry': ['x', [], 1],
  'options.retry.max_tries': [3],
  'options.retry.initial_interval_ms': [0, -1, 1.5, '1', 1e15],
  'options.retry.max_interval_ms': [0, -1, 1.5],
  'options.retry.max_attempts': [-1, 1.5, '3', 1e9],
  'options.retry.initial_interval': [1, '1s', '-PT1S', 'PT', 'PT0S'],
  'options.retry.backoff_coefficient': [0.5, -1, '2', 1e9],
  'options.retry.backoff_strategy': ['magic', 1],
  'options.retry.max_interval': ['P1Y', 5],
  'options.retry.jitter': [1, 'yes'],
  'options.retry.non_retryable_errors': ['x', [1], many(101, 'x')],
  'options.retry.on_exhaustion': ['explode', true],
};

/** A copy of the body with one value put in at a dotted path. */
export function withField(body: object, path: string, value: unknown): object {
  const [first, ...rest] = path.split('.') as [string, ...string[]];
  const inner = (body as Record<string, object | undefined>)[first] ?? {};
  return { ...body, [first]: rest.length === 0 ? value : withField(inner, rest.join('.'), value) };
}
