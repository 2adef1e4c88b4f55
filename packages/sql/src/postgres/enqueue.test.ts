import { engine, type Job, type JobOptions, type JsonObject, type Waybill } from '@waybill/core';
import type { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempSchema } from './testing/server.ts';

interface Bench {
  url: string;
  schema: string;
  waybill: Waybill;
  client: Client;
  /** By the function, on the client. */
  enqueue(type: string | null, args?: unknown, options?: unknown): Promise<string>;
}

async function bench(): Promise<Bench> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const waybill = engine({ store: await postgresStore({ url, schema, poolSize: 4 }), maintenance: false });
  onTestFinished(() => waybill.close());
  const client = await tempClient(url);
  const enqueue: Bench['enqueue'] = async (type, args = [], options = {}) => {
    const values = [type, JSON.stringify(args), JSON.stringify(options)];
    const { rows } = await client.query(`select "${schema}".enqueue($1, $2, $3) as id`, values);
    return (rows[0] as { id: string }).id;
  };
  return { url, schema, waybill, client, enqueue };
}

/** What two jobs must differ in. */
const OWN = ['id', 'created_at', 'enqueued_at', 'scheduled_at', 'next_at', 'place', 'seq', 'idempotency_key'];

/** Every row of the store that tells of a job, less what is its own. */
async function rowsOf({ url, schema, waybill }: Bench, id: string): Promise<unknown> {
  const found: unknown[] = [];
  for (const table of ['jobs_live', 'job_bodies', 'live_jobs']) {
    const [row] = await execute(url, `select to_json(t) from "${schema}".${table} t where id = $1`, [id]);
    found.push(row && withoutOwn(row[0] as Record<string, unknown>));
  }
  const { events } = await waybill.events.read({ limit: 100, filter: { jobIds: [id] } });
  return [found, events.map(({ jobId: _id, at: _at, cursor: _cursor, data, ...event }) => [event, Object.keys(data)])];
}

function withoutOwn(row: Record<string, unknown>): unknown {
  const spec = typeof row.spec === 'string' ? JSON.parse(row.spec) : row.spec;
  const kept = Object.entries({ ...row, spec }).filter(([name]) => !OWN.includes(name));
  return Object.fromEntries(kept);
}

const ARGS = [{ to: 'ada@example.com', cc: null, text: 'ä%s"\\', n: 1.5 }, [null, true]];
const META = { trace: { id: 'x', none: null } };

const CASES: [string, unknown, JobOptions, JsonObject?][] = [
  ['no options', {}, {}],
  [
    'every option',
    { queue: 'mail', priority: 5, max_attempts: 7, timeout_ms: 1500, meta: META },
    {
      queue: 'mail',
      priority: 5,
      retry: { max_attempts: 7 },
      timeout_ms: 1500,
    },
    META,
  ],
  [
    'a delay',
    { queue: 'mail', priority: -100, delay_ms: 60_500 },
    {
      queue: 'mail',
      priority: -100,
      scheduled_at: '+PT60.5S',
    },
  ],
  ['no delay', { delay_ms: 0, queue: null, meta: null }, { scheduled_at: '+PT0S' }],
];

test.each(CASES)('with %s the function stores what the engine stores', async (_, options, same, meta) => {
  const own = await bench();
  const { job } = await own.waybill.jobs.enqueue({
    type: 'email.send',
    args: ARGS,
    options: same,
    ...(meta && { meta }),
  });
  const id = await own.enqueue('email.send', ARGS, options);
  expect(await rowsOf(own, id)).toEqual(await rowsOf(own, job.id));
  const made = await own.waybill.jobs.get(id);
  expect(timesOf(made)).toEqual(timesOf(job));
  expect(made.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(made.id.replace('-', '').slice(0, 12), 16)).toBe(made.createdAt);
  const { events } = await own.waybill.events.read({ limit: 100, filter: { jobIds: [id] } });
  const due = made.scheduledAt === null ? {} : { scheduled_at: new Date(made.scheduledAt).toISOString() };
  expect(events.map(({ at, data }) => [at, data])).toEqual([[made.createdAt, due]]);
});

/** How the times of a job relate, which is the same for all. */
function timesOf({ createdAt, enqueuedAt, scheduledAt, nextAt, seq }: Job): unknown {
  return {
    delay: scheduledAt === null ? null : scheduledAt - createdAt,
    enqueued: enqueuedAt === null ? null : enqueuedAt - createdAt,
    next: nextAt === null ? null : nextAt - createdAt,
    place: Math.floor(seq / 1000) - (scheduledAt ?? createdAt),
  };
}

test('JSON may be spread over lines', async () => {
  const { client, schema, waybill } = await bench();
  const spread = (value: unknown) => JSON.stringify(value, null, 2);
  const { rows } = await client.query(`select "${schema}".enqueue('email.send', $1, $2) as id`, [
    spread(ARGS),
    spread({ meta: { ...META, text: 'two\nlines' } }),
  ]);
  const { spec } = await waybill.jobs.get((rows[0] as { id: string }).id);
  expect(spec).toEqual({ args: ARGS, meta: { ...META, text: 'two\nlines' } });
});

test('a queue that keeps nothing keeps nothing of the function either', async () => {
  const own = await bench();
  await own.waybill.queues.setKeep('default', 'none');
  const { job } = await own.waybill.jobs.enqueue({ type: 'email.send', args: ARGS });
  const id = await own.enqueue('email.send', ARGS);
  expect(await rowsOf(own, id)).toEqual(await rowsOf(own, job.id));
});

test('rolled back there is no job; committed there is one, and workers are told', async () => {
  const { client, enqueue, schema, url, waybill } = await bench();
  const listener = await tempClient(url);
  await listener.query(`listen "waybill_${schema}_wake"`);
  const told = new Promise((resolve) => listener.once('notification', ({ payload }) => resolve(payload)));
  await client.query('begin');
  const lost = await enqueue('email.send', [], { queue: 'never' });
  await client.query('rollback');
  await expect(waybill.jobs.get(lost)).rejects.toMatchObject({ code: 'not_found' });
  expect((await waybill.events.read({ limit: 1 })).events).toEqual([]);
  expect(await waybill.queues.list()).toEqual([]);

  await client.query('begin');
  const id = await enqueue('email.send', [], { queue: 'mail' });
  expect(await waybill.jobs.claim({ queues: ['mail'] })).toEqual([]);
  await client.query('commit');
  expect(await told).toBe('["mail"]');
  const [lease] = await waybill.jobs.claim({ queues: ['mail'] });
  expect(lease?.job.id).toBe(id);
});

test('jobs are claimed in the order of the calls, those of higher priority first', async () => {
  const { enqueue, waybill } = await bench();
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push(await enqueue('email.send'));
  ids.unshift(await enqueue('email.send', [], { priority: 1 }));
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 10 });
  expect(leases.map(({ job }) => job.id)).toEqual(ids);
});

test('an idempotency key answers its first job, and an id that is taken is refused', async () => {
  const { client, enqueue, url, schema, waybill } = await bench();
  const { job } = await waybill.jobs.enqueue({ type: 'email.send', args: [] }, { idempotencyKey: 'once' });
  expect(await enqueue('email.send', [], { idempotency_key: 'once' })).toBe(job.id);
  const id = await enqueue('email.send', [], { idempotency_key: 'twice' });
  expect(await waybill.jobs.enqueue({ type: 'email.send', args: [] }, { idempotencyKey: 'twice' })).toMatchObject({
    job: { id },
    created: false,
  });
  await expect(enqueue('email.send', [], { id: job.id })).rejects.toMatchObject({
    code: '23505',
    message: `There is already a job ${job.id}.`,
  });

  // A rival under the same key that commits while we wait for it.
  const rival = await tempClient(url);
  await rival.query('begin');
  const call = `select "${schema}".enqueue('email.send', '[]', '{"idempotency_key": "thrice"}') as id`;
  const { rows } = await rival.query(call);
  const second = client.query(call);
  const { processID } = client as unknown as { processID: number };
  const waits = `select wait_event_type = 'Lock' from pg_stat_activity where pid = $1`;
  while ((await execute(url, waits, [processID]))[0]?.[0] !== true);
  await rival.query('commit');
  expect((await second).rows).toEqual(rows);
});

const INVALID = '22023';
const REFUSED: [string, string, string | null, unknown, unknown?][] = [
  ['an upper-case type', INVALID, 'Email', []],
  ['no type', INVALID, null, []],
  ['a type with a line end', INVALID, 'email\n', []],
  ['a type that is too long', INVALID, 'a'.repeat(256), []],
  ['arguments that are no list', INVALID, 'email.send', { to: 'ada' }],
  ['options that are no object', INVALID, 'email.send', [], []],
  ['a queue with a blank', INVALID, 'email.send', [], { queue: 'a b' }],
  ['a queue that is too long', INVALID, 'email.send', [], { queue: 'a'.repeat(129) }],
  ['a queue that is a number', INVALID, 'email.send', [], { queue: 1 }],
  ['a priority above 100', INVALID, 'email.send', [], { priority: 101 }],
  ['a priority with a fraction', INVALID, 'email.send', [], { priority: 1.5 }],
  ['a priority that is a text', INVALID, 'email.send', [], { priority: '1' }],
  ['a negative delay', INVALID, 'email.send', [], { delay_ms: -1 }],
  ['a negative number of attempts', INVALID, 'email.send', [], { max_attempts: -1 }],
  ['a timeout of nothing', INVALID, 'email.send', [], { timeout_ms: 0 }],
  ['meta that is a list', INVALID, 'email.send', [], { meta: [] }],
  ['an id of another version', INVALID, 'email.send', [], { id: '019461a8-1a2b-4c3d-8e4f-5a6b7c8d9e0f' }],
  ['a key that cannot be printed', INVALID, 'email.send', [], { idempotency_key: 'ä' }],
  ['a uniqueness rule', '0A000', 'email.send', [], { unique: { keys: ['type'] } }],
  ['a limit', '0A000', 'email.send', [], { rate_limit: { concurrency: 1 } }],
  ['an option that nobody knows', '0A000', 'email.send', [], { prioritty: 1 }],
];

test('what is wrong or not supported is refused, and nothing is stored', async () => {
  const { enqueue, waybill } = await bench();
  for (const [what, code, type, args, options] of REFUSED) {
    await expect(enqueue(type, args, options), what).rejects.toMatchObject({ code });
  }
  await expect(enqueue('email.send', [], { unique: {} })).rejects.toMatchObject({
    message: 'enqueue() does not take the options: unique.',
    hint: expect.stringContaining('SDK'),
  });
  expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);
  expect(await waybill.queues.list()).toEqual([]);
});
