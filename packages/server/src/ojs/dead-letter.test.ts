import { expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';

/** A job that failed for good and was kept. */
async function dead({ enqueued, fetched, post, clock }: Harness, queue: string, errorClass: string): Promise<string> {
  const { id } = await enqueued({ queue, retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } });
  await fetched({ queues: [queue] });
  await post('/ojs/v1/workers/nack', { job_id: id, error: { message: 'no', type: errorClass } });
  await clock.advance(1_000);
  return id;
}

const idsIn = async ({ get }: Harness, query = ''): Promise<string[]> =>
  (await get(`/ojs/v1/dead-letter${query}`)).body.jobs.map(({ id }: { id: string }) => id);

test('dead jobs are listed, filtered and counted', async () => {
  const server = harness();
  const a = await dead(server, 'a', 'DbError');
  const b = await dead(server, 'b', 'SmtpError');
  expect(await idsIn(server)).toEqual([b, a]);
  expect(await idsIn(server, '?queue=a')).toEqual([a]);
  expect(await idsIn(server, '?error_type=SmtpError')).toEqual([b]);
  expect(await idsIn(server, '?since=2030-01-01T00:00:00.500Z')).toEqual([b]);
  expect(await idsIn(server, '?until=2030-01-01T00:00:00.500Z')).toEqual([a]);
  expect(await idsIn(server, '?type=no.such')).toEqual([]);
  expect((await server.get('/ojs/v1/dead-letter?limit=1')).body.pagination.has_more).toBe(true);
  expect((await server.get('/ojs/v1/dead-letter/stats')).body).toEqual({ total: 2, exact: true });
  expect((await server.get(`/ojs/v1/dead-letter/${a}`)).body.job).toMatchObject({ id: a, state: 'discarded' });
});

test('one dead job starts over, with or without a body', async () => {
  const server = harness();
  const ids = [await dead(server, 'a', 'DbError'), await dead(server, 'a', 'DbError')];
  const answers = [
    await server.post(`/ojs/v1/dead-letter/${ids[0]}/retry`, {}),
    await server.post(`/ojs/v1/dead-letter/${ids[1]}/retry`),
  ];
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(body.job).toMatchObject({ state: 'available', attempt: 0 });
    expect(body.job.errors).toHaveLength(1);
  }
  expect(await idsIn(server)).toEqual([]);
  expect((await server.post(`/ojs/v1/dead-letter/${ids[0]}/retry`, {})).status).toBe(404);
});

test('a retry with changes is refused rather than done without them', async () => {
  const server = harness();
  const id = await dead(server, 'a', 'DbError');
  const { status, body } = await server.post(`/ojs/v1/dead-letter/${id}/retry`, { override: { queue: 'b' } });
  expect([status, body.error.code]).toEqual([422, 'unsupported']);
  expect(await idsIn(server)).toEqual([id]);
});

test('one dead job is discarded and stays readable as a job', async () => {
  const server = harness();
  const id = await dead(server, 'a', 'DbError');
  expect((await server.delete(`/ojs/v1/dead-letter/${id}`)).body).toMatchObject({
    deleted: true,
    job_id: id,
    job: { id, state: 'discarded' },
  });
  expect(await idsIn(server)).toEqual([]);
  expect((await server.get(`/ojs/v1/jobs/${id}`)).body.job.state).toBe('discarded');
  expect((await server.delete(`/ojs/v1/dead-letter/${id}`)).status).toBe(404);
});

test('many start over or are discarded only when that is confirmed, and only those that match', async () => {
  const server = harness();
  const a = await dead(server, 'a', 'DbError');
  const b = await dead(server, 'b', 'DbError');
  const c = await dead(server, 'c', 'DbError');
  for (const refused of [
    await server.post('/ojs/v1/dead-letter/retry', { filter: { queue: 'a' } }),
    await server.post('/ojs/v1/dead-letter/retry', { filter: { queue: 'a' }, confirm: false }),
    await server.delete('/ojs/v1/dead-letter?queue=a'),
    await server.delete('/ojs/v1/dead-letter?queue=a&confirm=yes'),
  ]) {
    expect([refused.status, refused.body.error.details.field]).toEqual([400, 'confirm']);
  }
  const retried = await server.post('/ojs/v1/dead-letter/retry', { filter: { queue: 'a' }, confirm: true });
  expect(retried.body).toEqual({ retried: 1, has_more: false });
  expect(await idsIn(server)).toEqual([c, b]);
  expect((await server.delete('/ojs/v1/dead-letter?queue=b&confirm=true')).body).toEqual({
    deleted: 1,
    has_more: false,
  });
  expect(await idsIn(server)).toEqual([c]);
  expect((await server.get(`/ojs/v1/jobs/${a}`)).body.job.state).toBe('available');
});

test('a misspelt filter is refused: it would match everything', async () => {
  const server = harness();
  const id = await dead(server, 'a', 'DbError');
  for (const refused of [
    await server.delete('/ojs/v1/dead-letter?queu=b&confirm=true'),
    await server.post('/ojs/v1/dead-letter/retry', { filter: { queu: 'b' }, confirm: true }),
    await server.post('/ojs/v1/dead-letter/retry', { filter: 'b', confirm: true }),
    await server.post('/ojs/v1/dead-letter/retry', { filter: { queue: null }, confirm: true }),
    await server.post('/ojs/v1/dead-letter/retry', { filter: { queue: 'b', since: null }, confirm: true }),
    await server.post('/ojs/v1/dead-letter/retry', { filter: { since: 'yesterday' }, confirm: true }),
    await server.post('/ojs/v1/dead-letter/retry', { filter: { since: '2030-02-31T00:00:00Z' }, confirm: true }),
  ]) {
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
  }
  expect(await idsIn(server)).toEqual([id]);
});

test('calls that take many can be bounded, and filters take lists', async () => {
  const server = harness();
  for (const queue of ['a', 'b', 'c']) await dead(server, queue, 'DbError');
  const page = (await server.get('/ojs/v1/dead-letter?queue=a,b&created_before=2031-01-01T00:00:00Z')).body;
  expect(page.jobs.map(({ queue }: { queue: string }) => queue).sort()).toEqual(['a', 'b']);
  expect(page.jobs[0]).toMatchObject({ dead_letter: true, errors: [{ run: 1 }] });
  const retry = { confirm: true, limit: 1, filter: { queue: 'a,b' } };
  expect((await server.post('/ojs/v1/dead-letter/retry', retry)).body).toEqual({ retried: 1, has_more: true });
  expect((await server.delete('/ojs/v1/dead-letter?confirm=true&limit=1')).body.deleted).toBe(1);
  expect(await idsIn(server)).toHaveLength(1);
  for (const query of ['limit=0', 'limit=x', 'workflow_id=x', 'created_after=x']) {
    expect((await server.delete(`/ojs/v1/dead-letter?confirm=true&${query}`)).status).toBe(400);
  }
});

test('C9: a discarded job that was not kept is no dead letter, and the refusal says so', async () => {
  const server = harness();
  const { id } = await server.enqueued({ retry: { max_attempts: 1 } });
  await server.fetched();
  await server.post('/ojs/v1/workers/nack', { job_id: id });
  const answers = [
    await server.get(`/ojs/v1/dead-letter/${id}`),
    await server.delete(`/ojs/v1/dead-letter/${id}`),
    await server.post(`/ojs/v1/dead-letter/${id}/retry`),
  ];
  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'not_found']);
    expect(body.error.message).toBe(`Job ${id} is discarded, and not a dead letter.`);
    expect(body.error.hint).toContain('on_exhaustion');
  }
});

test.each([
  ['/ojs/v1/jobs/batch', 'GET', 'POST'],
  ['/ojs/v1/jobs/batch', 'DELETE', 'POST'],
  ['/ojs/v1/dead-letter/retry', 'GET', 'POST'],
  ['/ojs/v1/dead-letter/retry', 'DELETE', 'POST'],
  ['/ojs/v1/dead-letter/stats', 'DELETE', 'GET, HEAD'],
  ['/ojs/v1/dead-letter/stats', 'PUT', 'GET, HEAD'],
])('C9: %s does not take %s, and the answer names what it takes', async (path, method, allowed) => {
  const { raw } = harness();
  const { status, headers, body } = await raw(method, path);
  expect([status, headers.get('allow'), body.error.code]).toEqual([405, allowed, 'invalid_request']);
});
