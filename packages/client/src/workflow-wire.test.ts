import type { WorkflowInfo } from '@waybill/core';
import { expect, test } from 'vitest';
import { workflowToWire } from './workflow-wire.ts';

const AT = Date.UTC(2030, 0, 1);
const TEXT = '2030-01-01T00:00:00.000Z';

const INFO: WorkflowInfo = {
  tenant: '',
  id: 'w',
  type: 'chain',
  name: null,
  state: 'running',
  failurePolicy: 'stop',
  callbacks: {},
  total: 3,
  createdAt: AT,
  finishedAt: null,
  timeoutMs: null,
  nextAt: null,
  reason: null,
  skips: false,
  completed: 1,
  failed: 0,
  cancelled: 0,
  skipped: 0,
  partialFailure: false,
};

test('a chain counts steps, everything else jobs, and metadata both', () => {
  const metadata = { job_count: 3, completed_count: 1, failed_count: 0, cancelled_count: 0, created_at: TEXT };
  const same = { id: 'w', state: 'running', failure_policy: 'stop', created_at: TEXT, metadata };
  expect(workflowToWire(INFO)).toEqual({ ...same, type: 'chain', steps_total: 3, steps_completed: 1 });
  for (const type of ['group', 'batch', 'dag']) {
    expect(workflowToWire({ ...INFO, type })).toEqual({ ...same, type, jobs_total: 3, jobs_completed: 1 });
  }
});

test('a record without counts shows none', () => {
  const { completed: _, failed: __, cancelled: ___, ...record } = INFO;
  const { metadata, ...wire } = workflowToWire({ ...record, name: 'n', state: 'failed', finishedAt: AT });
  expect(wire).toMatchObject({ name: 'n', completed_at: TEXT, steps_total: 3 });
  expect(wire).not.toHaveProperty('steps_completed');
  expect(metadata).toEqual({ job_count: 3, created_at: TEXT, completed_at: TEXT });
});
