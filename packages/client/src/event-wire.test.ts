import type { LoggedEvent } from '@waybill/core';
import { expect, test } from 'vitest';
import { eventFromWire, eventToWire } from './event-wire.ts';

const EVENT: LoggedEvent = {
  type: 'job.started',
  tenant: '',
  jobId: '019539a4-0000-7000-8000-000000000000',
  jobType: 'email.send',
  queue: 'mail',
  run: 2,
  attempt: 1,
  source: 'server',
  sequence: 7,
  at: Date.UTC(2030, 0, 1),
  data: { worker_id: 'w1' },
  cursor: '42',
};

test('an event travels in the CloudEvents envelope of the specification', () => {
  expect(eventToWire(EVENT)).toEqual({
    specversion: '1.0',
    id: `evt_${EVENT.jobId}_server_7`,
    type: 'job.started',
    source: 'ojs://waybill/server',
    time: '2030-01-01T00:00:00.000Z',
    timestamp: '2030-01-01T00:00:00.000Z',
    subject: EVENT.jobId,
    data: { job_id: EVENT.jobId, job_type: 'email.send', queue: 'mail', attempt: 1, run: 2, worker_id: 'w1' },
    cursor: '42',
  });
});

test('data of a worker cannot pass for facts of the row, and its source is a valid address', () => {
  const wire = eventToWire({ ...EVENT, source: 'worker 1/a', data: { queue: 'other', run: 9, job_id: 'x' } });
  expect(wire.data).toEqual({ job_id: EVENT.jobId, job_type: 'email.send', queue: 'mail', attempt: 1, run: 2 });
  expect(wire.source).toBe('ojs://waybill/workers/worker%201%2Fa');
});

test('a client reads back what a server wrote, whoever the source is', () => {
  for (const source of ['server', 'worker 1/a_b', 'ä'])
    expect(eventFromWire(JSON.parse(JSON.stringify(eventToWire({ ...EVENT, source }))), 't')).toEqual({
      ...EVENT,
      source,
      tenant: 't',
    });
});
