import { expect, test } from 'vitest';
import { aJob } from '../testing/index.ts';
import { failureLine } from './failure-line.ts';

const job = { ...aJob().job, type: 'email.welcome', id: 'j-1', attempt: 1, maxAttempts: 3 };

test('D2: a failed run is one sentence about what happened and one about what comes next', () => {
  expect(failureLine({ ...job, state: 'retryable', retryDelayMs: 1_000 }, 'no luck')).toBe(
    'Job j-1 email.welcome failed on attempt 1 of 3: no luck. It will be retried in 1.0 s. See: waybill jobs show j-1',
  );
  expect(failureLine({ ...job, state: 'available' }, 'The lease ran out.')).toBe(
    'Job j-1 email.welcome failed on attempt 1 of 3: The lease ran out. It will be run again at once. See: waybill jobs show j-1',
  );
  expect(failureLine({ ...job, attempt: 3, state: 'discarded' }, 'no luck')).toBe(
    'Job j-1 email.welcome was discarded after 3 attempts: no luck. See: waybill jobs show j-1',
  );
  expect(failureLine({ ...job, state: 'discarded', dead: true })).toBe(
    'Job j-1 email.welcome became a dead letter after 1 attempt: no reason was given. Run it again: waybill dead replay j-1',
  );
});

test('M3: of a failed node it says how to repair the workflow, since a replay leaves that failed', () => {
  const node = { ...job, state: 'discarded', workflowId: 'w-1', node: 'build' } as const;
  expect(failureLine({ ...node, dead: true }, 'no luck')).toBe(
    'Job j-1 email.welcome became a dead letter after 1 attempt: no luck. Repair its workflow: waybill workflows resume w-1',
  );
  expect(failureLine({ ...node, tenant: 'acme' }, 'no luck')).toBe(
    'Job j-1 email.welcome was discarded after 1 attempt: no luck. Repair its workflow: waybill workflows resume w-1 --tenant acme',
  );
  // A callback is no node: what becomes of it does not change the workflow.
  expect(failureLine({ ...node, node: null, dead: true }, 'no luck')).toContain('waybill dead replay j-1');
});
