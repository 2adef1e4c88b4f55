import type { JobEvent, LogEvent, SubjectEvent } from '@waybill/core';
import { expect, test } from 'vitest';
import { decodeEvents, encodeEvent, encodeEvents, encodeRuns, foldEvents } from './event-codec.ts';

const event = (overrides: Partial<JobEvent>): JobEvent => ({
  type: 'job.started',
  tenant: '',
  jobId: '01900000-0000-7000-8000-000000000001',
  jobType: 'a.b',
  queue: 'default',
  run: 1,
  attempt: 1,
  source: 'server',
  sequence: 2,
  at: 5,
  data: {},
  ...overrides,
});

const id = (n: number): string => `01900000-0000-7000-8000-00000000000${n}`;
const read = (texts: readonly string[]): LogEvent[] => decodeEvents(`[${texts.join(',')}]`);

test('neighbours that differ in nothing but their jobs are one entry, and read as they were', () => {
  const events = [
    ...[1, 2, 3].map((n) => event({ jobId: id(n) })),
    event({ jobId: id(1), type: 'job.completed', sequence: 3, data: { duration_ms: 1 } }),
    event({ jobId: id(2), type: 'job.completed', sequence: 3, data: { duration_ms: 1 } }),
    event({ jobId: id(3), type: 'job.completed', sequence: 3, data: { duration_ms: 11 } }),
    event({ jobId: id(4), jobType: 'a.b,c', tenant: 't', source: 'worker' }),
    event({ jobId: id(5), jobType: 'b,c', tenant: 't', source: 'worker' }),
    event({ jobId: id(6) }),
  ];
  const folded = foldEvents(events.map(encodeEvent));
  expect(folded).toHaveLength(6);
  expect(read(folded)).toEqual(events);
  expect(foldEvents([])).toEqual([]);
});

test('events of what is not a job read as they were, whatever its name is', () => {
  const subject = (name: string, overrides: Partial<SubjectEvent> = {}): SubjectEvent => ({
    type: 'key.made',
    tenant: '',
    subject: name,
    source: 'server',
    sequence: 2,
    at: 5,
    data: {},
    ...overrides,
  });
  const events = [
    event({ jobId: id(1) }),
    subject('a, c'),
    subject('b, c'),
    subject('"x", y'),
    subject('flow', { type: 'workflow.started', jobId: id(1) }),
    subject('flow', { type: 'workflow.started', jobId: id(2) }),
    event({ jobId: id(2) }),
    event({ jobId: id(3) }),
  ];
  expect(read(foldEvents(events.map(encodeEvent)))).toEqual(events);
  const inAnyOrder = (some: readonly LogEvent[]) => some.map((one) => JSON.stringify(one)).sort();
  expect(inAnyOrder(read(encodeEvents(events)))).toEqual(inAnyOrder(read(events.map(encodeEvent))));
});

test('a job keeps the order of its events however they are put together', () => {
  const [failed, retrying] = [event({ type: 'job.failed', sequence: 3 }), event({ type: 'job.retrying', sequence: 4 })];
  const other = { jobId: id(2) };
  const events = [{ ...failed, ...other }, failed, retrying, { ...retrying, ...other }];
  const types = (read: LogEvent[], job: string) => read.filter(({ jobId }) => jobId === job).map(({ type }) => type);
  for (const texts of [encodeEvents(events), foldEvents(events.map(encodeEvent))]) {
    for (const job of [failed.jobId, other.jobId]) {
      expect(types(read(texts), job)).toEqual(['job.failed', 'job.retrying']);
    }
  }
});

test('neighbours may be counted where their ids are kept beside', () => {
  const of = (...numbers: number[]) => numbers.map((n) => event({ jobId: id(n), tenant: n > 5 ? 't' : '' }));
  const events = of(1, 2, 3, 4, 5, 6, 7, 8, 9);
  const runs = encodeRuns(events);
  expect(runs).toHaveLength(2);
  expect(runs?.join()).not.toContain(id(1));
  const ids = events.map(({ jobId }) => jobId);
  expect(decodeEvents(`[${runs}]`, ids)).toEqual(events);
  // Beside others that name theirs.
  const [named] = encodeEvents(of(6, 7));
  expect(decodeEvents(`[${named},${runs}]`, ids)).toEqual([...of(6, 7), ...events]);
  expect(encodeRuns(of(1, 6, 2, 7))).toBeNull();
});
