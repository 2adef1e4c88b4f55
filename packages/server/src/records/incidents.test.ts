import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { incidents } from './incidents.ts';

const LIST = '/waybill/v1/incidents';
const ONE = `${LIST}/mails-late`;
const opened = { ...incidents.example, status: 'open' };

test('an incident is opened, changed, closed and removed, and the log tells each', async () => {
  const { get, put, delete: remove } = harness();
  const first = await put(ONE, incidents.example);
  expect([first.status, first.body.incident]).toMatchObject([201, { id: 'mails-late', ...opened }]);
  expect((await get(ONE)).body).toEqual(first.body);
  expect((await put(ONE, { ...opened, note: 'Looking into it.' })).status).toBe(200);
  await put(ONE, { ...opened, status: 'closed' });
  expect((await get(LIST)).body).toMatchObject({
    incidents: [{ id: 'mails-late', status: 'closed' }],
    pagination: { has_more: false },
  });
  expect((await remove(ONE)).status).toBe(200);
  expect((await get(ONE)).status).toBe(404);
  const { events } = (await get('/ojs/v1/events?types=incident.opened,incident.changed,incident.closed')).body;
  expect(events.map(({ type, subject }: { type: string; subject: string }) => [type, subject])).toEqual([
    ['incident.opened', 'mails-late'],
    ['incident.changed', 'mails-late'],
    ['incident.closed', 'mails-late'],
    ['incident.changed', 'mails-late'],
  ]);
  expect(events[0].data).toEqual(opened);
});

test('an incident that a check has opened stays its own when a person changes it', async () => {
  const { get, put, waybill, clock } = harness();
  await waybill.jobs.enqueue({ type: 'a.b', args: [] });
  await clock.advance(6 * 60_000);
  await waybill.checks.round!();
  const one = `${LIST}/queue-age:queue:default`;
  const found = (await get(one)).body.incident;
  expect(found).toMatchObject({ check: 'queue-age', subject: 'queue:default', severity: 'warning', status: 'open' });
  const { body } = await put(one, { title: found.title, severity: 'high', note: 'A worker is on its way.' });
  expect(body.incident).toMatchObject({ check: 'queue-age', opened_at: found.opened_at, severity: 'high' });
  await waybill.checks.round!();
  expect((await get('/ojs/v1/events?types=incident.opened,incident.escalated')).body.events).toMatchObject([
    { type: 'incident.opened', data: { check: 'queue-age' } },
    { type: 'incident.opened', data: { check: 'live-workers' } },
    { type: 'incident.escalated', data: { severity: 'high', note: 'A worker is on its way.' } },
  ]);
});

test('whoever has read an older version is refused, and changes nothing', async () => {
  const { get, put, delete: remove } = harness();
  const { headers } = await put(ONE, incidents.example);
  const seen = { 'If-Match': headers.get('ETag')! };
  expect((await put(ONE, { ...opened, note: 'mine' }, seen)).status).toBe(200);
  const late = await put(ONE, { ...opened, note: 'theirs' }, seen);
  expect([late.status, late.body.error.code]).toEqual([409, 'conflict']);
  expect((await remove(ONE, seen)).status).toBe(409);
  expect((await get(ONE)).body.incident.note).toBe('mine');
});

test.each<[string, object, string]>([
  ['no title', { severity: 'low' }, 'title'],
  ['no severity', { title: 'x' }, 'severity'],
  ['an unknown severity', { title: 'x', severity: 'worst' }, 'severity'],
  ['a misspelt field', { ...incidents.example, titel: 'x' }, 'titel'],
])('refuses %s, by its field', async (_, body, field) => {
  const { put, stored } = harness();
  const { status, body: answer } = await put(ONE, body);
  expect([status, answer.error.details.field]).toEqual([400, field]);
  expect(await stored()).toEqual(await harness().stored());
});
