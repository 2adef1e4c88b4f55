import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { METRICS } from '@waybill/telemetry';
import { expect, onTestFinished, test } from 'vitest';
import { CommandProcess } from '../testing/command-process.ts';
import { OtlpReceiver, type ReceivedSpan } from '../testing/otlp-receiver.ts';
import { ServerProcess } from '../testing/server-process.ts';

const built = (name: string) => fileURLToPath(new URL(`../../dist/testing/${name}`, import.meta.url));

/** As the span kinds of OTLP are numbered. */
const [INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER] = [1, 2, 3, 4, 5];

interface Trace {
  all: ReceivedSpan[];
  one(service: string, name: string): ReceivedSpan;
  parentOf(span: ReceivedSpan): string;
}

function traceOf(spans: readonly ReceivedSpan[], traceId: string): Trace {
  const all = spans.filter((span) => span.traceId === traceId);
  const one = (service: string, name: string): ReceivedSpan => {
    const found = all.filter((span) => span.service === service && span.name === name);
    expect([service, name, found.length]).toEqual([service, name, 1]);
    return found[0]!;
  };
  const parentOf = ({ parentSpanId }: ReceivedSpan): string => {
    const parent = all.find(({ spanId }) => spanId === parentSpanId);
    return parent === undefined ? '' : `${parent.service}: ${parent.name}`;
  };
  return { all, one, parentOf };
}

async function outputOf(file: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
  return text;
}

test('one trace goes through a producer, a server and a worker, and the workflow that a handler makes', async () => {
  const receiver = await OtlpReceiver.start();
  onTestFinished(() => receiver.stop());
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-trace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '50', WAYBILL_LOG: 'debug' };
  const store = `sqlite:${path.join(folder, 'jobs.db')}`;
  const server = await ServerProcess.start(['serve', '--store', store, '--port', '0'], env);
  onTestFinished(async () => void (await server.end('SIGKILL')));
  const worker = await CommandProcess.start(
    ['work', built('traced-tasks.js'), '--store', server.url],
    /^waybill works on/m,
    env,
  );
  onTestFinished(async () => void (await worker.end('SIGKILL')));

  const printed = await outputOf(built('traced-producer.js'), [server.url, receiver.url]);
  const { id, traceId } = JSON.parse(printed) as { id: string; traceId: string };
  const spansOf = (service: string, name: string) =>
    receiver.spans.filter((span) => span.traceId === traceId && span.service === service && span.name === name);
  // The last that happens: the worker settles the mail, and the server stores that.
  await receiver.until(() => (spansOf('waybill-server', 'settle').length === 2 ? true : undefined));
  await receiver.until(() => (spansOf('waybill-worker', 'settle').length === 2 ? true : undefined));
  expect([await worker.end('SIGTERM'), await server.end('SIGTERM')]).toEqual([0, 0]);

  const { one, parentOf, all } = traceOf(receiver.spans, traceId);
  expect(new Set(all.map(({ service }) => service))).toEqual(new Set(['shop', 'waybill-server', 'waybill-worker']));

  const checkout = one('shop', 'checkout');
  expect([checkout.kind, checkout.parentSpanId]).toEqual([INTERNAL, '']);
  const enqueue = one('shop', 'enqueue orders');
  expect([enqueue.kind, parentOf(enqueue)]).toEqual([PRODUCER, 'shop: checkout']);
  expect(enqueue.attributes).toMatchObject({
    ...{ 'messaging.system': 'waybill', 'messaging.operation.type': 'send', 'messaging.destination.name': 'orders' },
    ...{ 'waybill.job.type': 'order.place', 'waybill.job.id': id },
  });
  const request = one('waybill-server', 'POST /ojs/v1/jobs');
  expect([request.kind, parentOf(request)]).toEqual([SERVER, 'shop: enqueue orders']);
  expect(request.attributes).toMatchObject({ 'http.route': '/ojs/v1/jobs', 'http.response.status_code': 201 });
  expect(request.resource).toMatchObject({ 'service.name': 'waybill-server', 'service.version': expect.any(String) });
  expect(parentOf(one('waybill-server', 'enqueue orders'))).toBe('waybill-server: POST /ojs/v1/jobs');

  const claims = all.filter(({ service, name }) => service === 'waybill-worker' && name === 'claim');
  expect(claims.map((claim) => [claim.kind, parentOf(claim)]).sort()).toEqual([
    [CLIENT, 'shop: enqueue orders'],
    [CLIENT, 'waybill-worker: create workflow'],
  ]);
  const run = one('waybill-worker', 'process orders');
  expect([run.kind, parentOf(run)]).toEqual([CONSUMER, 'shop: enqueue orders']);
  expect(run.attributes).toMatchObject({
    ...{ 'messaging.operation.type': 'process', 'waybill.job.id': id, 'waybill.job.run': 1 },
    'waybill.outcome': 'completed',
  });
  expect(parentOf(one('waybill-worker', 'charge the card'))).toBe('waybill-worker: process orders');

  const created = one('waybill-worker', 'create workflow');
  expect(parentOf(created)).toBe('waybill-worker: process orders');
  expect(parentOf(one('waybill-server', 'POST /ojs/v1/workflows'))).toBe('waybill-worker: create workflow');
  const child = one('waybill-worker', 'process mails');
  expect([child.kind, parentOf(child)]).toEqual([CONSUMER, 'waybill-worker: create workflow']);
  expect(child.attributes).toMatchObject({ 'waybill.workflow.id': created.attributes['waybill.workflow.id'] });

  // The handler's line of log is kept in its journal: sent by the worker, stored by the server.
  const published = all.filter(({ name }) => name === 'publish');
  expect(published.map((span) => [span.service, span.kind, parentOf(span)]).sort()).toEqual([
    ['waybill-server', PRODUCER, 'waybill-server: POST /ojs/v1/jobs/:id/journal'],
    ['waybill-worker', PRODUCER, 'waybill-worker: process orders'],
  ]);
  expect(published[0]!.attributes).toMatchObject({ 'messaging.batch.message_count': 1, 'waybill.job.id': id });
  expect(parentOf(one('waybill-server', 'POST /ojs/v1/jobs/:id/journal'))).toBe('waybill-worker: publish');

  const settled = all.filter(({ service, name }) => service === 'waybill-worker' && name === 'settle').map(parentOf);
  expect(settled.sort()).toEqual(['waybill-worker: process mails', 'waybill-worker: process orders']);
  const acks = all.filter(({ name }) => name === 'POST /ojs/v1/workers/ack').map(parentOf);
  expect(acks).toEqual(['waybill-worker: settle', 'waybill-worker: settle']);
  const stored = all.filter(({ service, name }) => service === 'waybill-server' && name.startsWith('store.'));
  // Handed to a claim that waits, or not: that depends on who is first.
  const inserted = stored.find(({ name }) => /^store\.insert(AndClaim)?$/.test(name));
  expect(inserted?.attributes).toMatchObject({ 'waybill.store.name': 'sqlite', 'waybill.count': 1 });
  expect(stored.map(({ name }) => name)).toContain('store.apply');

  // A line of the log leads to its trace, of a request and of a handler.
  const line = server.output.split('\n').find((text) => text.includes('"route":"/ojs/v1/jobs"'))!;
  expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, span_id: request.spanId, status: 201 });
  const said = worker.output.split('\n').find((text) => text.includes('The card was charged.'))!;
  expect(JSON.parse(said)).toMatchObject({ trace_id: traceId, span_id: run.spanId, job: id });

  // Both send their metrics when they end, under names of the table and without ids.
  const known = new Set(METRICS.map(({ name }) => name));
  const own = receiver.metrics.filter(({ name }) => name.startsWith('waybill.'));
  expect(own.filter(({ name }) => !known.has(name))).toEqual([]);
  const services = (name: string) => new Set(own.filter((one) => one.name === name).map(({ service }) => service));
  expect(services('waybill.jobs.enqueued.total')).toEqual(new Set(['waybill-server']));
  expect(services('waybill.http.request.duration')).toEqual(new Set(['waybill-server']));
  expect(services('waybill.events.persisted.total')).toEqual(new Set(['waybill-server']));
  expect(services('waybill.events.publish.total')).toEqual(new Set(['waybill-server']));
  expect(services('waybill.job.run.duration')).toEqual(new Set(['waybill-worker']));
  expect(JSON.stringify(own)).not.toContain(id);
});
