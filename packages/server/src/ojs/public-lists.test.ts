import { expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';

// Lists and schedules as public clients of the specification ask for them and read them.

const idsIn = (body: { jobs: { id: string }[] }): string[] => body.jobs.map(({ id }) => id);

async function dead({ enqueued, fetched, post, clock }: Harness): Promise<string> {
  const { id } = await enqueued({ retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } });
  await fetched();
  await post('/ojs/v1/workers/nack', { job_id: id });
  await clock.advance(1);
  return id;
}

test('C7: dead letters are listed by offset, and their total is told', async () => {
  const server = harness();
  const ids = [await dead(server), await dead(server), await dead(server)].reverse();
  const page = async (query: string) => (await server.get(`/ojs/v1/dead-letter?${query}`)).body;
  const first = await page('limit=2&offset=0');
  expect(idsIn(first)).toEqual(ids.slice(0, 2));
  expect(first.pagination).toMatchObject({ total: 3, limit: 2, offset: 0, has_more: true });
  expect(first.pagination.next_cursor).toBe(first.pagination.cursor);
  const last = await page('limit=2&offset=2');
  expect([idsIn(last), last.pagination.has_more]).toEqual([ids.slice(2), false]);
  expect(idsIn(await page('limit=2&offset=9'))).toEqual([]);
  expect(idsIn(await page(`limit=2&cursor=${first.pagination.next_cursor}`))).toEqual(ids.slice(2));
});

test('C7: an offset beside a cursor, or one that is no number in bounds, is refused', async () => {
  const { get } = harness();
  for (const query of ['offset=-1', 'offset=x', 'offset=1.5', 'offset=10001', 'offset=1&cursor=abc']) {
    const { status, body } = await get(`/ojs/v1/dead-letter?${query}`);
    expect([query, status, body.error.details.field]).toEqual([query, 400, 'offset']);
  }
});

test('C8: jobs and workflows are listed by offset too', async () => {
  const { enqueued, get, post, clock } = harness();
  const { id: first } = await enqueued();
  await clock.advance(1);
  await enqueued();
  expect(idsIn((await get('/ojs/v1/jobs?offset=1')).body)).toEqual([first]);
  for (const type of ['a.one', 'a.two'])
    await post('/ojs/v1/workflows', { type: 'chain', steps: [{ type, args: [] }] });
  expect((await get('/ojs/v1/workflows?offset=1')).body.workflows).toHaveLength(1);
});

test.each([
  ['queues', '/ojs/v1/queues', ({ enqueued }: Harness, name: string) => enqueued({ queue: name })],
  ['cron_jobs', '/ojs/v1/cron', (server: Harness, name: string) => server.post('/ojs/v1/cron', flat(name))],
] as const)('C8: %s come page by page where a limit is asked for', async (list, path, add) => {
  const server = harness();
  for (const name of ['a', 'b', 'c']) await add(server, name);
  const page = async (query: string) => (await server.get(`${path}${query}`)).body;
  const names = (body: Record<string, { name: string }[]>) => body[list]!.map(({ name }) => name);
  const all = await page('');
  expect([names(all), all.pagination]).toEqual([
    ['a', 'b', 'c'],
    expect.objectContaining({ total: 3, has_more: false }),
  ]);
  const first = await page('?limit=2');
  expect([names(first), first.pagination]).toEqual([
    ['a', 'b'],
    { limit: 2, offset: 0, total: 3, has_more: true, cursor: '2', next_cursor: '2' },
  ]);
  expect(names(await page(`?limit=2&cursor=${first.pagination.next_cursor}`))).toEqual(['c']);
  expect(names(await page('?limit=50&offset=1'))).toEqual(['b', 'c']);
  expect((await server.get(`${path}?cursor=x`)).status).toBe(400);
});

const flat = (name: string) => ({
  ...{ name, cron: '0 9 * * *', timezone: 'UTC', type: 'report.make', args: ['daily'], meta: { owner: 'me' } },
  options: { queue: 'reports', retry: { max_attempts: 3, initial_interval_ms: 5_000 } },
});

test('C6: a schedule is answered in the words of the HTTP binding as well', async () => {
  const { post, get, delete: remove } = harness();
  const { body } = await post('/ojs/v1/cron', flat('daily'));
  expect(body.cron_job).toEqual({
    ...flat('daily'),
    ...{ overlap_policy: 'skip', enabled: true, status: 'active', run_count: 0 },
    ...{ next_run_at: '2030-01-01T09:00:00.000Z', created_at: '2030-01-01T00:00:00.000Z' },
  });
  expect((await get('/ojs/v1/cron')).body).toMatchObject({ crons: [body.cron], cron_jobs: [body.cron_job], count: 1 });
  expect((await get('/ojs/v1/cron/daily')).body).toEqual(body);
  expect((await remove('/ojs/v1/cron/daily')).body).toMatchObject({ deleted: true, name: 'daily', ...body });
});

test('C6: the queue of a schedule may stand beside it', async () => {
  const { post, clock, get } = harness();
  await post('/ojs/v1/cron', { name: 'flat', cron: '* * * * *', type: 'a.b', args: [], queue: 'reports' });
  await clock.advance(60_000);
  expect((await get('/ojs/v1/jobs?queue=reports')).body.jobs).toHaveLength(1);
});

test('C8: a schedule is paused by PATCH, and its jobs say which one made them', async () => {
  const { post, raw, get, clock } = harness();
  await post('/ojs/v1/cron', { ...flat('often'), cron: '* * * * *' });
  await clock.advance(60_000);
  const [job] = (await get('/ojs/v1/jobs?queue=reports')).body.jobs;
  expect(job.meta).toEqual({ owner: 'me', cron_name: 'often', cron_triggered_at: '2030-01-01T00:01:00.000Z' });
  const patch = (body: object) =>
    raw('PATCH', '/ojs/v1/cron/often', {
      ...{ headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) },
    });
  expect((await patch({ enabled: false })).body.cron_job).toMatchObject({ status: 'paused', next_run_at: null });
  await clock.advance(120_000);
  expect((await get('/ojs/v1/jobs?queue=reports')).body.jobs).toHaveLength(1);
  expect((await patch({ enabled: true })).body.cron_job).toMatchObject({ enabled: true, status: 'active' });
  for (const body of [{}, { enabled: 'no' }, { enabled: true, cron: '@daily' }])
    expect((await patch(body)).status).toBe(400);
});
