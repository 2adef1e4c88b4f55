import { expect, test } from 'vitest';
import { type Harness, harness } from '../testing/harness.ts';

/** What the specification's text demands in the data of each event. */
const DEMANDED: Record<string, string[]> = {
  'job.enqueued': ['job_type', 'queue'],
  'job.started': ['job_type', 'queue', 'worker_id', 'attempt'],
  'job.completed': ['job_type', 'queue', 'duration_ms', 'attempt'],
  'job.failed': ['job_type', 'queue', 'attempt', 'error.code', 'error.message', 'error.retryable'],
  'job.discarded': ['job_type', 'queue', 'total_attempts', 'last_error.code', 'last_error.message'],
  'job.retrying': ['job_type', 'queue', 'attempt', 'max_attempts', 'next_retry_at', 'error.code', 'error.message'],
  'job.cancelled': ['job_type', 'queue', 'cancelled_by', 'reason'],
  'job.heartbeat': ['job_type', 'queue', 'worker_id', 'attempt', 'visible_until'],
  'job.scheduled': ['job_type', 'queue', 'scheduled_at'],
  'job.expired': ['job_type', 'queue', 'created_at', 'expired_at', 'ttl_ms'],
  'job.progress': ['job_type', 'queue', 'worker_id', 'attempt', 'progress_percent'],
  'queue.paused': ['queue'],
  'queue.resumed': ['queue'],
  'workflow.started': ['workflow_id', 'workflow_name', 'total_steps'],
  'workflow.step_completed': [
    ...['workflow_id', 'workflow_name', 'step_id', 'step_type', 'duration_ms', 'steps_remaining'],
  ],
  'workflow.completed': ['workflow_id', 'workflow_name', 'total_steps', 'duration_ms'],
  'workflow.failed': [
    ...['workflow_id', 'workflow_name', 'failed_step_id', 'failed_step_type', 'error.code', 'error.message'],
  ],
  'cron.triggered': ['cron_name', 'cron_expr', 'job_type', 'job_id', 'scheduled_at'],
  'cron.skipped': ['cron_name', 'cron_expr', 'job_type', 'reason', 'existing_job_id'],
};

const at = (data: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], data);

const ENDS = { ack: {}, nack: { error: { code: 'smtp_down', message: 'no' } } };

/** Takes the next job, prolongs and reports on it, and says what became of it. */
async function run({ fetched, post, put, clock }: Harness, end: keyof typeof ENDS): Promise<void> {
  const { id } = await fetched({ worker_id: 'w1' });
  await clock.advance(10);
  await post('/ojs/v1/workers/heartbeat', { worker_id: 'w1', active_jobs: [id] });
  await put(`/ojs/v1/jobs/${id}/progress`, { progress: 0.5 });
  expect((await post(`/ojs/v1/workers/${end}`, { job_id: id, ...ENDS[end] })).status).toBe(200);
  await clock.advance(10_000);
}

test('C8: every event that the text demands is told, with all that it demands', async () => {
  const server = harness();
  const { post, enqueued, clock, get, delete: remove } = server;
  await enqueued({ retry: { max_attempts: 2 } });
  await run(server, 'nack');
  await run(server, 'nack');
  await enqueued({ scheduled_at: '+PT5S' });
  await clock.advance(5_000);
  await run(server, 'ack');
  await enqueued({ queue: 'idle', expires_at: '+PT1S' });
  await clock.advance(2_000);
  const { id } = await enqueued({ queue: 'idle' });
  await remove(`/ojs/v1/jobs/${id}?by=ops&reason=old`);
  for (const verb of ['pause', 'resume']) await post(`/ojs/v1/queues/idle/${verb}`);
  const step = { type: 'a.step', args: [], options: { retry: { max_attempts: 1 } } };
  for (const end of ['ack', 'nack'] as const) {
    await post('/ojs/v1/workflows', { type: 'chain', name: end, steps: [step] });
    await run(server, end);
  }
  await post('/ojs/v1/cron', { name: 'often', cron: '* * * * *', type: 'a.tick', args: [], queue: 'ticks' });
  await clock.advance(120_000);
  const { events } = (await get('/ojs/v1/events?limit=1000')).body;
  for (const [type, fields] of Object.entries(DEMANDED)) {
    const found = events.filter((event: { type: string }) => event.type === type);
    expect([type, found.length > 0]).toEqual([type, true]);
    for (const { data } of found) {
      const missing = fields.filter((field) => at(data, field) === undefined || at(data, field) === null);
      expect([type, missing]).toEqual([type, []]);
    }
  }
});
