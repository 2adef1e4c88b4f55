import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const typesIn = (body: { events: { type: string }[] }) => body.events.map(({ type }) => type);

test('events come in the envelope of the specification', async () => {
  const { enqueued, fetched, post, get, clock } = harness();
  const { id } = await enqueued({ queue: 'q' });
  const { lease_token } = await fetched({ queues: ['q'], worker_id: 'w1' });
  await clock.advance(20);
  await post('/ojs/v1/workers/ack', { job_id: id, lease_token });
  const { body } = await get('/ojs/v1/events?types=job.completed&queues=q&limit=10');
  expect(body.events).toEqual([
    {
      specversion: '1.0',
      id: `evt_${id}_server_3`,
      type: 'job.completed',
      source: 'ojs://waybill/server',
      time: '2030-01-01T00:00:00.020Z',
      timestamp: '2030-01-01T00:00:00.020Z',
      subject: id,
      data: { job_id: id, job_type: 'test.job', queue: 'q', attempt: 1, run: 1, duration_ms: 20 },
      cursor: expect.any(String),
    },
  ]);
  expect([body.has_more, body.missed]).toEqual([false, undefined]);
});

test('a reader goes on behind its cursor, without gap or repetition', async () => {
  const { enqueued, get } = harness();
  for (let n = 0; n < 5; n += 1) await enqueued();
  const seen: string[] = [];
  let query = '?limit=2';
  for (let page = 0; page < 3; page += 1) {
    const { body } = await get(`/ojs/v1/events${query}`);
    seen.push(...body.events.map(({ id }: { id: string }) => id));
    expect(body.has_more).toBe(page < 2);
    query = `?limit=2&after=${body.cursor}`;
  }
  expect(new Set(seen).size).toBe(5);
  expect((await get(`/ojs/v1/events${query}`)).body.events).toEqual([]);
});

test('filters narrow by type, queue and job', async () => {
  const { enqueued, fetched, get } = harness();
  const { id } = await enqueued({ queue: 'a' });
  await enqueued({ queue: 'b' });
  await fetched({ queues: ['a'] });
  expect(typesIn((await get('/ojs/v1/events?queues=a')).body)).toEqual(['job.enqueued', 'job.started']);
  expect(typesIn((await get('/ojs/v1/events?types=job.enqueued,job.started&queues=b')).body)).toEqual(['job.enqueued']);
  expect((await get(`/ojs/v1/events?job_id=${id}`)).body.events).toHaveLength(2);
});

test('reading from now on leaves history out', async () => {
  const { enqueued, get } = harness();
  await enqueued();
  const { body } = await get('/ojs/v1/events?from=now');
  expect(body.events).toEqual([]);
  await enqueued();
  expect((await get(`/ojs/v1/events?after=${body.cursor}`)).body.events).toHaveLength(1);
  expect((await get('/ojs/v1/events?from=start')).body.events).toHaveLength(2);
});

test('a poll reads past slices in which nothing matches', async () => {
  const { app, waybill, enqueued } = harness();
  await enqueued({ queue: 'wanted' });
  const { read } = waybill.events;
  let empty = 3;
  waybill.events.read = async (query) => {
    if (empty === 0) return read(query);
    empty -= 1;
    return { events: [], cursor: query?.after ?? '0', atEnd: false, missed: empty === 2 };
  };
  const response = await app.request('/ojs/v1/events?queues=wanted');
  // Found out in the first slice, told with the last one.
  expect(await response.json()).toMatchObject({ events: [{ data: { queue: 'wanted' } }], missed: true });
});

test('what is wrong with the query is refused', async () => {
  const { get } = harness();
  for (const query of [
    'types=job.exploded',
    'types=',
    'queues=UPPER',
    'job_id=x',
    'limit=0',
    'limit=1001',
    'limit=1e2',
    'limit=-1',
    'from=yesterday',
    'from=now&after=1',
    'after=not-a-cursor',
    'unknown=1',
    '__proto__=1',
  ]) {
    const { status, body } = await get(`/ojs/v1/events?${query}`);
    expect([query, status, body.error.code]).toEqual([query, 400, 'invalid_request']);
  }
});
