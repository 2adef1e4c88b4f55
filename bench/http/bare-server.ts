// The same HTTP stack as ours with nothing behind it: parses the JSON, answers JSON of the same size.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { payload } from '../queue.ts';

const TYPE = { 'Content-Type': 'application/openjobspec+json', 'OJS-Version': '1.0', 'X-Request-Id': 'req_bare' };
const id = '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f';
const now = new Date().toISOString();
const job = {
  ...{
    id,
    type: 'bench.job',
    state: 'available',
    queue: 'bench',
    args: [payload()],
    meta: {},
    priority: 0,
    attempt: 0,
    max_attempts: 3,
  },
  ...{ run: 0, created_at: now, enqueued_at: now },
};
const fetched = { ...job, state: 'active', attempt: 1, run: 1, started_at: now, lease_token: `1.${id}` };
const acked = {
  acknowledged: true,
  job_id: id,
  id,
  state: 'completed',
  completed_at: now,
  job: { ...fetched, state: 'completed' },
};

const app = new Hono();
app.post('/ojs/v1/jobs', async (c) => {
  await c.req.json();
  return c.body(JSON.stringify({ job }), 201, TYPE);
});
app.post('/ojs/v1/workers/fetch', async (c) => {
  await c.req.json();
  return c.body(JSON.stringify({ jobs: [fetched], job: fetched }), 200, TYPE);
});
app.post('/ojs/v1/workers/ack', async (c) => {
  await c.req.json();
  return c.body(JSON.stringify(acked), 200, TYPE);
});

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  console.log(`waybill ready on http://127.0.0.1:${port}`);
});
process.on('SIGTERM', () => server.close());
