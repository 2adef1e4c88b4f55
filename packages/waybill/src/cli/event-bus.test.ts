import { startEventBus } from '@waybill/aws/cloud';
import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startHost } from './host.ts';
import { readServeOptions } from './serve-options.ts';

const CONTEXT = { io: { env: {} }, namedStore: 'sqlite::memory:' } as Parameters<typeof readServeOptions>[1];

test('flags beat variables, and these beat the file', () => {
  const env = { WAYBILL_EVENT_BUS: 'of-env', WAYBILL_EVENT_APP: 'app-of-env' };
  const config = { options: { eventBus: { region: 'eu-west-1' } } };
  const read = (values: object) =>
    readServeOptions(values, { ...CONTEXT, io: { env }, config } as never, { store: '' }).eventBus;
  expect(read({})).toEqual({ bus: 'of-env', app: 'app-of-env', region: 'eu-west-1' });
  expect(read({ 'event-bus': 'of-flag' })).toMatchObject({ bus: 'of-flag', app: 'app-of-env' });
  expect(readServeOptions({ 'event-bus': 'b' }, CONTEXT, { store: '' }).eventBus).toEqual({ bus: 'b', app: 'waybill' });
  expect(readServeOptions({}, CONTEXT, { store: '' }).eventBus).toBeUndefined();
});

test('a server tells the bus what happens to its jobs, and stops', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  onTestFinished(() => void vi.unstubAllEnvs());
  const put = Promise.withResolvers<void>();
  const local = await startEventBus({ host: '127.0.0.1', port: 0, region: 'us-east-1', deliver: () => put.resolve() });
  onTestFinished(() => local.stop());
  await fetch(local.endpoint, {
    method: 'POST',
    headers: { 'x-amz-target': 'AWSEvents.PutRule' },
    body: JSON.stringify({ Name: 'all', EventBusName: 'tasks', EventPattern: '{"detail-type":["log-event"]}' }),
  });
  await fetch(local.endpoint, {
    method: 'POST',
    headers: { 'x-amz-target': 'AWSEvents.PutTargets' },
    body: JSON.stringify({ Rule: 'all', EventBusName: 'tasks', Targets: [{ Id: '1', Arn: 'arn:aws:sqs:::q' }] }),
  });
  const asked = readServeOptions({ port: '0', 'event-bus': 'tasks', 'event-app': 'shop' }, CONTEXT, { store: '' });
  const eventBus = { ...asked.eventBus!, endpoint: local.endpoint, region: 'us-east-1' };
  const host = await startHost({ ...asked, eventBus }, silentLogger);
  onTestFinished(() => host.drain());
  const { sinks, jobs } = host.waybill;
  await sinks!.moveTo({ tenant: '~system', id: 'event-bus:tasks:shop' }, null);
  const { job } = await jobs.enqueue({ type: 'mail.send', args: [] });
  await put.promise;
  expect(local.events[0]).toMatchObject({
    ...{ source: 'task-workflow.shop', 'detail-type': 'log-event' },
    detail: { eventType: 'Task Pending', properties: { requestId: job.id } },
  });
});
