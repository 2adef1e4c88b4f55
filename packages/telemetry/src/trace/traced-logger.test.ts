import type { Logger } from '@waybill/core';
import { expect, test } from 'vitest';
import { Recorder } from '../testing/recorder.ts';
import { tracedLogger } from './traced-logger.ts';

test('a line has the ids of the active span, and only then', async () => {
  const { tracerProvider } = new Recorder();
  const lines: [string, object, string][] = [];
  const line = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const plain: Logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  const logger = tracedLogger(plain);
  logger.info({ a: 1 }, 'before');
  const { traceId, spanId } = tracerProvider.getTracer('test').startActiveSpan('work', (span) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]({ job: 'x' }, 'within');
    logger.warn({ trace_id: 'mine' }, 'own');
    span.end();
    return span.spanContext();
  });
  const ids = { trace_id: traceId, span_id: spanId };
  expect(lines).toEqual([
    ['info', { a: 1 }, 'before'],
    ...['debug', 'info', 'warn', 'error'].map((level) => [level, { ...ids, job: 'x' }, 'within']),
    ['warn', { ...ids, trace_id: 'mine' }, 'own'],
  ]);
});
