import { task } from '@waybill/worker';
import { expect, it } from 'vitest';
import { embedded, overHttp } from './testing/open-connection.ts';

it.each([
  ['embedded on SQLite', embedded],
  ['over HTTP', overHttp],
])('D10: a mistyped type is told on the row, in the event and by health, %s', async (_, open) => {
  const waybill = await open();
  waybill.work([task('mail.send', { run: () => 'sent' })], { id: 'worker-1' });
  const { job } = await waybill.jobs.enqueue({ type: 'mail.sned', args: [] });
  const over = new AbortController();
  const filter = { jobIds: [job.id], types: ['job.snoozed' as const] };
  const message = "Worker worker-1 has no task 'mail.sned'. Did you mean 'mail.send'?";
  for await (const { data } of waybill.events.follow({ filter, signal: over.signal })) {
    expect(data).toMatchObject({ error: { code: 'unknown_type', message } });
    break;
  }
  over.abort();
  expect(await waybill.jobs.get(job.id)).toMatchObject({
    ...{ state: 'retryable', attempt: 0, retryDelayMs: 5_000 },
    errors: [{ code: 'unknown_type', message, details: { worker: 'worker-1', closest: 'mail.send' } }],
  });
  expect(await waybill.health()).toMatchObject({
    status: 'ok',
    unknownTypes: { jobs: 1, types: [{ type: 'mail.sned', queue: 'default', jobs: 1, reason: message }] },
  });
});
