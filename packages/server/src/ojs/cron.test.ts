import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const TEMPLATE = { type: 'report.make', args: [{ kind: 'daily' }], options: { queue: 'reports' } };
const CRON = { name: 'daily-report', expression: '0 9 * * *', job_template: TEMPLATE };

test('a schedule is created with its defaults and can be read again', async () => {
  const { post, get } = harness();
  const { status, headers, body } = await post('/ojs/v1/cron', { ...CRON, description: 'At nine' });
  expect(status).toBe(201);
  expect(headers.get('location')).toBe('/ojs/v1/cron/daily-report');
  expect(body.cron).toEqual({
    name: 'daily-report',
    expression: '0 9 * * *',
    timezone: 'UTC',
    overlap_policy: 'skip',
    misfire_policy: 'run_once',
    catch_up_limit: 10,
    enabled: true,
    description: 'At nine',
    next_run_at: '2030-01-01T09:00:00.000Z',
    run_count: 0,
    created_at: '2030-01-01T00:00:00.000Z',
    job_template: TEMPLATE,
  });
  expect((await get('/ojs/v1/cron/daily-report')).body).toEqual(body);
  expect((await get('/ojs/v1/cron')).body).toMatchObject({ crons: [body.cron], count: 1 });
});

test("the words of the specification's text mean the same", async () => {
  const { post } = harness();
  const { status, body } = await post('/ojs/v1/cron', {
    name: 'flat',
    cron: '@daily',
    timezone: 'Asia/Tokyo',
    overlap_policy: 'cancel_previous',
    misfire_policy: 'catch_up',
    catch_up_limit: 3,
    enabled: false,
    type: 'report.make',
    args: [1],
    options: { queue: 'reports' },
  });
  expect(status).toBe(201);
  expect(body.cron).toMatchObject({
    expression: '@daily',
    timezone: 'Asia/Tokyo',
    overlap_policy: 'cancel_previous',
    misfire_policy: 'catch_up',
    catch_up_limit: 3,
    enabled: false,
    job_template: { type: 'report.make', args: [1], options: { queue: 'reports' } },
  });
  expect(body.cron).not.toHaveProperty('next_run_at');
});

test('the same name replaces the schedule', async () => {
  const { post, get } = harness();
  await post('/ojs/v1/cron', CRON);
  const { body } = await post('/ojs/v1/cron', { ...CRON, expression: '0 10 * * *' });
  expect(body.cron.next_run_at).toBe('2030-01-01T10:00:00.000Z');
  expect((await get('/ojs/v1/cron')).body.count).toBe(1);
});

test('a tick makes one job, and the schedule tells of it', async () => {
  const { post, get, fetched, clock } = harness();
  await post('/ojs/v1/cron', { ...CRON, expression: '* * * * *' });
  expect((await post('/ojs/v1/workers/fetch', { queues: ['reports'] })).body.jobs).toEqual([]);
  await clock.advance(61_000);
  expect(await fetched({ queues: ['reports'] })).toMatchObject({ type: 'report.make', args: [{ kind: 'daily' }] });
  expect((await get('/ojs/v1/cron/daily-report')).body.cron).toMatchObject({
    last_run_at: '2030-01-01T00:01:00.000Z',
    next_run_at: '2030-01-01T00:02:00.000Z',
    run_count: 1,
  });
});

test('a paused schedule makes nothing until it is resumed, with or without a body', async () => {
  const { post, get, clock } = harness();
  await post('/ojs/v1/cron', { ...CRON, expression: '* * * * *' });
  const paused = await post('/ojs/v1/cron/daily-report/pause');
  expect([paused.status, paused.body.cron.enabled, paused.body.cron.next_run_at]).toEqual([200, false, undefined]);
  await clock.advance(180_000);
  expect((await get('/ojs/v1/jobs')).body.jobs).toEqual([]);
  const resumed = await post('/ojs/v1/cron/daily-report/resume', {});
  expect(resumed.body.cron).toMatchObject({ enabled: true, next_run_at: '2030-01-01T00:04:00.000Z' });
});

test('a removed schedule is answered once more and then gone', async () => {
  const { post, get, delete: remove } = harness();
  const { body } = await post('/ojs/v1/cron', CRON);
  expect(await remove('/ojs/v1/cron/daily-report')).toMatchObject({
    status: 200,
    body: { deleted: true, name: 'daily-report', cron: body.cron },
  });
  expect((await get('/ojs/v1/cron')).body).toMatchObject({ crons: [], cron_jobs: [], count: 0 });
  for (const gone of [
    await remove('/ojs/v1/cron/daily-report'),
    await get('/ojs/v1/cron/daily-report'),
    await post('/ojs/v1/cron/daily-report/pause'),
    await post('/ojs/v1/cron/daily-report/resume'),
  ]) {
    expect([gone.status, gone.body.error.code]).toEqual([404, 'not_found']);
  }
});
