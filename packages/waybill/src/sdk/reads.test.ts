import { task } from '@waybill/worker';
import { expect, test } from 'vitest';
import type { Connection } from './connect.ts';
import { jobOf } from './task-job.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

const PORTS = [
  ['embedded', embedded],
  ['over HTTP', overHttp],
] as const;

const mail = task('mail.send', { run: () => 1 });

test.each(PORTS)('M2: an id may be given as what enqueue has answered, %s', async (_, open) => {
  const waybill = await open();
  const sent = await waybill.enqueue(mail);
  expect(await waybill.jobs.get(sent)).toEqual(sent.job);
  expect(await waybill.jobs.get(sent.job)).toEqual(sent.job);
  expect(await waybill.jobs.progress(sent)).toBeNull();
  expect((await waybill.jobs.cancel(sent, { reason: 'no more' })).state).toBe('cancelled');
  expect((await waybill.jobs.retry(sent)).state).toBe('available');
  await expect(waybill.deadLetters.get(sent)).rejects.toMatchObject({ code: 'not_found' });
  const flow = await waybill.workflows.create({ type: 'chain', steps: [jobOf(mail)] });
  expect(await waybill.workflows.get(flow)).toEqual(flow);
  expect((await waybill.workflows.nodes(flow)).items).toHaveLength(1);
  await expect(waybill.jobs.cancel(sent, 'because' as never)).rejects.toMatchObject({ code: 'invalid_request' });
});

test.each(PORTS)('M2: a job of another tenant is found there, %s', async (_, open) => {
  const waybill = await open();
  const sent = await waybill.enqueue(mail, undefined, { tenant: 'acme' });
  expect(await waybill.jobs.get(sent)).toEqual(sent.job);
  await expect(waybill.jobs.get(sent.id)).rejects.toMatchObject({ code: 'not_found' });
  await expect(waybill.jobs.get(sent, { tenant: 'other' })).rejects.toMatchObject({ code: 'not_found' });
});

type Call = (waybill: Connection) => Promise<unknown>;

test.each<[string, Call]>([
  ['jobs.list of limit 0', ({ jobs }) => jobs.list({ limit: 0 })],
  ['jobs.list of limit 1e9', ({ jobs }) => jobs.list({ limit: 1e9 })],
  ['jobs.list of limit 1.5', ({ jobs }) => jobs.list({ limit: 1.5 })],
  ['jobs.list of an unknown state', ({ jobs }) => jobs.list({ filter: { states: ['waiting' as never] } })],
  ['jobs.get of nothing', ({ jobs }) => jobs.get(undefined as never)],
  ['jobs.get of an object', ({ jobs }) => jobs.get({} as never)],
  ['jobs.claim of nothing', ({ jobs }) => jobs.claim({} as never)],
  ['queues.pause of nothing', ({ queues }) => queues.pause(undefined as never)],
  ['workflows.nodes of limit -1', ({ workflows }) => workflows.nodes('x', { limit: -1 })],
])('M2: %s is refused the same way, embedded and over HTTP', async (_, call) => {
  for (const [, open] of PORTS)
    await expect(call(await open())).rejects.toMatchObject({ name: 'WaybillError', code: 'invalid_request' });
});

test.each(PORTS)('M2: what is listed needs no options, %s', async (_, open) => {
  const waybill = await open();
  for (const group of [waybill.jobs, waybill.deadLetters, waybill.workflows])
    expect(await group.list()).toEqual({ items: [] });
  expect((await waybill.events.read()).events).toEqual([]);
});
