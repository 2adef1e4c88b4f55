import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { engine, type Sink, SinkRefusal, silentLogger } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { instrument } from '../instrument.ts';
import { Recorder } from '../testing/recorder.ts';

test('every try to deliver is a span of its own and counted, and fails as the delivery does', async () => {
  const recorder = new Recorder();
  const own = instrument(recorder);
  const clock = new TestClock();
  const waybill = engine({ store: memoryStore({ clock }), logger: silentLogger, maintenance: false });
  onTestFinished(() => waybill.close());
  const tries: number[] = [];
  const sink: Sink = {
    ...{ tenant: 'acme', id: 'one', filter: {}, target: { kind: 'webhook', host: 'hooks.example' } },
    deliver: async ({ attempt }) => {
      tries.push(attempt);
      if (attempt === 1) throw new SinkRefusal('The receiver https://hooks.example/s3cret?t=1 answered 500.');
    },
  };
  const running = waybill.sinks!.run({ list: async () => [sink] }, { observe: own.delivery });
  await clock.advance(0);
  await waybill.jobs.enqueue({ type: 'a.b', args: ['s3cret'] }, { tenant: 'acme' });
  await recorder.ended('deliver webhook', 1);
  while (tries.length < 2) await clock.advance(10_000);
  await recorder.ended('deliver webhook', 2);
  await running.stop();
  const [failed, taken] = recorder.named('deliver webhook');
  const attributes = {
    'waybill.sink': 'webhook',
    'server.address': 'hooks.example',
    'waybill.event.type': 'job.enqueued',
  };
  expect(failed).toMatchObject({
    kind: SpanKind.CLIENT,
    parentSpanContext: undefined,
    attributes: { ...attributes, 'waybill.delivery.attempt': 1, 'error.type': 'SinkRefusal' },
    status: { code: SpanStatusCode.ERROR },
  });
  expect(taken!.attributes).toEqual({ ...attributes, 'waybill.delivery.attempt': 2 });
  expect(JSON.stringify([failed, taken].map((span) => [span!.name, span!.attributes, span!.status]))).not.toContain(
    's3cret',
  );
  expect(await recorder.metric('waybill.sink.deliveries.total')).toEqual({
    '{"sink":"webhook","outcome":"failed"}': 1,
    '{"sink":"webhook","outcome":"delivered"}': 1,
  });
});
