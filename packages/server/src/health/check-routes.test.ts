import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const MINUTE = 60_000;

test('tells what is found, how running jobs do, and what is about the server', async () => {
  const { get, post, clock, fetched } = harness({ maintenance: false });
  await post('/ojs/v1/jobs', { type: 'a.b', args: [] });
  const job = await fetched({ worker_id: 'w1' });
  await clock.advance(11 * MINUTE);
  const { status, body } = await get('/health/checks');
  expect([status, body]).toMatchObject([
    200,
    {
      ...{ status: 'critical', cut: [], failed: [], jobs: { total: 1, critical: 1, healthy: 0 } },
      findings: [{ check: 'running-jobs', subject: `job:${job.id}`, job_id: job.id, severity: 'critical' }],
      tasks: [{ job_id: job.id, health: 'critical', worker_id: 'w1', silent_ms: 11 * MINUTE }],
      server: { status: 'critical', findings: [{ check: 'sweep-lag' }] },
    },
  ]);
  expect((await get('/health/checks?server=false')).body).not.toHaveProperty('server');
  expect((await get(`/health/jobs/${job.id}`)).body.job).toMatchObject({ state: 'active', health: 'critical' });
});

test('refuses what it does not know', async () => {
  const { get } = harness();
  expect((await get('/health/checks?verbose=1')).status).toBe(400);
  expect((await get('/health/jobs/none')).status).toBe(400);
  expect((await get('/health/jobs/01900000-0000-7000-8000-000000000000')).status).toBe(404);
});

test('is not for strangers, nor for those without the scope; a tenant is told nothing of others and of the server', async () => {
  const scopes = (asking: { header(name: string): string | undefined }) => {
    const sent = asking.header('authorization');
    if (sent === undefined) throw new WaybillError('unauthenticated', 'Who is it?');
    const [tenant, scope] = sent.split(' ') as [string, 'read' | 'work'];
    return { id: 'ada', tenant, scopes: [scope] };
  };
  const { get, waybill, clock } = harness({ principal: scopes });
  await waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant: 'acme' });
  await clock.advance(31 * MINUTE);
  const as = async (who?: string) => get('/health/checks', who === undefined ? {} : { authorization: who });
  expect((await as()).status).toBe(401);
  expect((await as('acme work')).status).toBe(403);
  const own = (await as('acme read')).body;
  expect(own.findings).toHaveLength(2);
  expect(own).not.toHaveProperty('server');
  expect((await as('other read')).body).toMatchObject({ status: 'healthy', findings: [] });
  expect((await as('* read')).body).toMatchObject({ status: 'healthy', server: { findings: [] } });
});
