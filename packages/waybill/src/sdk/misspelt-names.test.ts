import { task } from '@waybill/worker';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Connection, WorkOptions } from './connect.ts';
import { jobOf } from './task-job.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

const resize = task('image.resize', { input: z.object({ width: z.number() }), run: ({ width }) => width });
const plain = task('plain.one', { run: () => 1 });
const at = (fields: object) => fields as never;

const TASKS: [options: object, why: string][] = [
  [{ retry: { maxAttempts: 3 } }, "'retry' has no 'maxAttempts'. Did you mean 'max_attempts'?"],
  [{ retries: 3 }, "Task 'a.a' has no 'retries'. It takes input, run,"],
  [{ timeoutMs: 3 }, "Task 'a.a' has no 'timeoutMs'. Did you mean 'timeout'?"],
  [{ unique: { on_conflct: 'ignore' } }, "'unique' has no 'on_conflct'. Did you mean 'on_conflict'?"],
  [{ limit: { concurency: 1 } }, "'limit' has no 'concurency'. Did you mean 'concurrency'?"],
  [{ deadLetterMs: '90 days' }, "'deadLetterMs' must be whole milliseconds above 0, not string."],
];

it.each(TASKS)('D5: a task with %j is refused', (options, why) => {
  expect(() => task('a.a', { run: () => 1, ...options })).toThrow(
    expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(why) }),
  );
});

type Call = (waybill: Connection) => unknown;

const CALLS: [name: string, call: Call, why: string][] = [
  [
    'workflows.create with dependsOn',
    ({ workflows }) =>
      workflows.create({
        nodes: [{ id: 'a', type: 'a.a', args: [] }, at({ id: 'b', dependsOn: ['a'], type: 'b.b', args: [] })],
      }),
    "nodes[1] has no 'dependsOn'. Did you mean 'depends_on'?",
  ],
  [
    'workflows.create with a task and dependsOn',
    ({ workflows }) => workflows.create({ nodes: [at({ id: 'b', dependsOn: ['a'], job: jobOf(plain) })] }),
    "nodes[0] has no 'dependsOn'. Did you mean 'depends_on'?",
  ],
  [
    'workflows.create with failurePolicy',
    ({ workflows }) => workflows.create(at({ type: 'chain', failurePolicy: 'stop', steps: [jobOf(plain)] })),
    "A workflow has no 'failurePolicy'. Did you mean 'failure_policy'?",
  ],
  [
    'workflows.create with maxAttempts',
    ({ workflows }) =>
      workflows.create(
        at({ type: 'chain', steps: [{ type: 'a.a', args: [], options: { retry: { maxAttempts: 1 } } }] }),
      ),
    "The retry policy of steps[0] has no 'maxAttempts'. Did you mean 'max_attempts'?",
  ],
  [
    'workflows.create with onFailure',
    ({ workflows }) =>
      workflows.create(at({ type: 'chain', steps: [jobOf(plain)], callbacks: { onFailure: jobOf(plain) } })),
    "callbacks has no 'onFailure'. Did you mean 'on_failure'?",
  ],
  [
    'workflows.addNodes with dependsOn',
    ({ workflows }) => workflows.addNodes('x', [at({ id: 'b', dependsOn: ['a'], job: jobOf(plain) })]),
    "nodes[0] has no 'dependsOn'. Did you mean 'depends_on'?",
  ],
  [
    'crons.put with timeZone',
    ({ crons }) =>
      crons.put(at({ name: 'n', expression: '@daily', timeZone: 'Europe/Berlin', job_template: jobOf(plain) })),
    "A schedule has no 'timeZone'. Did you mean 'timezone'?",
  ],
  [
    'crons.put with a misspelt template',
    ({ crons }) =>
      crons.put({ name: 'n', expression: '@daily', job_template: at({ type: 'a.a', args: [], option: {} }) }),
    "job_template has no 'option'. Did you mean 'options'?",
  ],
  [
    'jobs.enqueue with an idempotencykey',
    ({ jobs }) => jobs.enqueue({ type: 'a.a', args: [] }, at({ idempotencykey: 'k' })),
    "jobs.enqueue() has no option 'idempotencykey'. Did you mean 'idempotencyKey'?",
  ],
  [
    'jobs.enqueue with timeoutMs',
    ({ jobs }) => jobs.enqueue({ type: 'a.a', args: [], options: { timeoutMs: 5 } }),
    "has no 'timeoutMs'. Did you mean 'timeout_ms'?",
  ],
  [
    'jobs.enqueue with maxAttempts',
    ({ jobs }) => jobs.enqueue({ type: 'a.a', args: [], retry: { maxAttempts: 1 } }),
    "jobs.enqueue(): the retry policy of job has no 'maxAttempts'. Did you mean 'max_attempts'?",
  ],
  [
    'jobs.enqueueMany with timeoutMs',
    ({ jobs }) =>
      jobs.enqueueMany([
        { type: 'a.a', args: [] },
        { type: 'a.a', args: [], options: { timeoutMs: 5 } },
      ]),
    "jobs.enqueueMany(): jobs[1].options has no 'timeoutMs'. Did you mean 'timeout_ms'?",
  ],
  [
    'jobs.enqueue with arg in place of args',
    ({ jobs }) => jobs.enqueue(at({ type: 'a.a', arg: [] })),
    "jobs.enqueue(): job has no 'arg'. Did you mean 'args'?",
  ],
  ['jobs.get', ({ jobs }) => jobs.get('x', at({ tenat: 'a' })), "jobs.get() has no option 'tenat'"],
  [
    'jobs.list by queue',
    ({ jobs }) => jobs.list({ filter: at({ queue: 'mail' }), limit: 1 }),
    "The filter of jobs.list has no 'queue'. Did you mean 'queues'?",
  ],
  [
    'deadLetters.discardMany by queue',
    ({ deadLetters }) => deadLetters.discardMany(at({ queue: ['mail'] })),
    "The filter of deadLetters.discardMany has no 'queue'. Did you mean 'queues'?",
  ],
  [
    'queues.pause',
    ({ queues }) => queues.pause('mail', at({ tennant: 'a' })),
    "queues.pause() has no option 'tennant'. Did you mean 'tenant'?",
  ],
  [
    'limits.set',
    ({ limits }) => limits.set('k', at({ concurency: 1, rate: null })),
    "The limit of limits.set has no 'concurency'. Did you mean 'concurrency'?",
  ],
  ['workers.list', ({ workers }) => workers.list(at({ tenat: 'a' })), "workers.list() has no option 'tenat'"],
  [
    'events.read',
    ({ events }) => events.read({ limit: 1, filter: at({ jobId: 'x' }) }),
    "The filter of events.read has no 'jobId'. Did you mean 'jobIds'?",
  ],
  [
    'work',
    async (waybill) => waybill.work([plain], { concurency: 5 } as WorkOptions),
    "work() has no option 'concurency'. Did you mean 'concurrency'?",
  ],
  ['enqueue', (waybill) => waybill.enqueue(plain, undefined, at({ prioriti: 1 })), "Did you mean 'priority'?"],
  [
    'enqueue with maxAttempts',
    (waybill) => waybill.enqueue(plain, undefined, at({ retry: { maxAttempts: 1 } })),
    "enqueue(): 'retry' has no 'maxAttempts'. Did you mean 'max_attempts'?",
  ],
  [
    'enqueueMany with one key for all',
    (waybill) => waybill.enqueueMany(plain, [undefined], at({ idempotencyKey: 'k' })),
    "enqueueMany() has no option 'idempotencyKey'",
  ],
];

describe.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('D5: a misspelt name is refused, %s:', (_, open) => {
  it.each(CALLS)('%s', async (_name, call, why) => {
    const waybill = await open();
    const refusal = Promise.resolve().then(() => call(waybill));
    await expect(refusal).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
    expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);
    expect(await waybill.crons.list()).toEqual([]);
  });

  it('events.follow at once', async () => {
    const waybill = await open();
    const { signal } = new AbortController();
    const follow = () => waybill.events.follow({ signal, filter: at({ jobId: 'x' }) });
    expect(follow).toThrow("has no 'jobId'. Did you mean 'jobIds'?");
  });

  it('fields of other programs are kept', async () => {
    const waybill = await open();
    const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [], x_trace: 1, options: { metadata: { a: 1 } } });
    expect((await waybill.jobs.get(job.id)).spec).toMatchObject({ extra: { x_trace: 1 } });
  });

  it('fields of other programs are kept, also where they are near to a short name', async () => {
    const waybill = await open();
    const own = { ids: [1], tag: 'x', arg: 1, metas: 2 };
    const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [], ...own, options: { tag: 'y' } });
    expect((await waybill.jobs.get(job.id)).spec).toMatchObject({ extra: own, options: { tag: 'y' } });
  });

  it.each([
    ['among the options', { options: { visibility_timeout: 7, timeout: 5 } }],
    ['beside the type', { visibility_timeout: 7, timeout: 5 }],
  ])('timeouts in seconds are taken %s', async (_where, fields) => {
    const waybill = await open();
    const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [], ...fields });
    expect(await waybill.jobs.get(job.id)).toMatchObject({ visibilityMs: 7_000, timeoutMs: 5_000 });
  });

  it('what an answer tells of a job may be sent back', async () => {
    const waybill = await open();
    const told = {
      state: 'available',
      attempt: 0,
      error: null,
      created_at: '2030-01-01T00:00:00Z',
      specversion: '1.0',
    };
    expect(await waybill.jobs.enqueue({ type: 'a.a', args: [], ...told })).toMatchObject({ created: true });
  });
});

describe('D5: jobs of tasks in workflows and schedules', () => {
  it('are typed by the task', () => {
    // @ts-expect-error a number is wanted
    jobOf(resize, { width: 'wide' });
    // @ts-expect-error an input is wanted
    jobOf(resize);
    jobOf(plain);
    // @ts-expect-error the schedule says when
    jobOf(plain, undefined, { idempotencyKey: 'k' });
    expectTypeOf<Parameters<Connection['workflows']['create']>[0]>().not.toBeUnknown();
    const typed = (waybill: Connection) => {
      // @ts-expect-error depends_on
      waybill.workflows.create({ nodes: [{ id: 'b', dependsOn: ['a'], job: jobOf(plain) }] });
      // @ts-expect-error depends_on
      waybill.workflows.create({ nodes: [{ id: 'b', dependsOn: ['a'], type: 'a.a', args: [] }] });
      // @ts-expect-error timezone
      waybill.crons.put({ name: 'n', expression: '@daily', timeZone: 'UTC', job_template: jobOf(plain) });
    };
    expect(typed).toBeTypeOf('function');
  });

  it.each([
    ['embedded', embedded],
    ['over HTTP', overHttp],
  ])('are checked by its schema and carry its policy, %s', async (_, open) => {
    const waybill = await open();
    const { workflows, crons, jobs } = waybill;
    const limited = task('one.at-a-time', {
      ...{ queue: 'own', retry: { max_attempts: 2 }, unique: { keys: ['type'] }, run: () => 1 },
    });
    const { id } = await workflows.create({
      nodes: [
        { id: 'small', job: jobOf(resize, { width: 1 }) },
        { id: 'own', depends_on: ['small'], job: jobOf(limited) },
      ],
      callbacks: { on_complete: jobOf(plain) },
    });
    const [own, small] = (await workflows.nodes(id, { limit: 9 })).items.sort((a, b) => (a.node! < b.node! ? -1 : 1));
    expect(small).toMatchObject({ type: 'image.resize', spec: { args: [{ width: 1 }] }, dependsOn: [] });
    expect(own).toMatchObject({ queue: 'own', maxAttempts: 2, dependsOn: ['small'], uniqueKey: null });
    expect(own!.spec.retry).toMatchObject({ on_exhaustion: 'dead_letter' });
    const chain = await workflows.create({
      type: 'chain',
      steps: [jobOf(plain), { type: 'group', jobs: [jobOf(plain), jobOf(resize, { width: 2 })] }],
    });
    expect(chain.total).toBe(3);
    const cron = await crons.put({ name: 'n', expression: '@daily', job_template: jobOf(resize, { width: 3 }) });
    expect(cron.template).toMatchObject({ type: 'image.resize', args: [{ width: 3 }] });
    const wrong = jobOf(resize, { width: 'wide' } as never);
    await expect(crons.put({ name: 'm', expression: '@daily', job_template: wrong })).rejects.toMatchObject({
      ...{ code: 'validation_error', details: { field: 'job_template.width' } },
    });
    await expect(workflows.create({ type: 'group', jobs: [wrong] })).rejects.toMatchObject({
      ...{ code: 'validation_error', details: { field: 'jobs[0].width' } },
    });
    expect((await jobs.list({ limit: 99 })).items).toHaveLength(5);
  });
});
