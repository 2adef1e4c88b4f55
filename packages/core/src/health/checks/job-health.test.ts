import { describe, expect, test } from 'vitest';
import { aJobIn } from '../../testing/factories.ts';
import { TEST_EPOCH } from '../../testing/test-clock.ts';
import { healthSettings } from '../health-options.ts';
import { jobHealth } from './job-health.ts';

const MINUTE = 60_000;
const settings = healthSettings();
const START = TEST_EPOCH;

/** A run that began at the epoch and was last prolonged after `seen`. */
function running({
  seen = 0,
  leaseMs = 30_000,
  ...more
}: Record<string, unknown> & { seen?: number; leaseMs?: number }) {
  const job = aJobIn('active');
  return {
    ...job,
    startedAt: START,
    leaseMs,
    leaseUntil: START + seen + leaseMs,
    timeoutAt: null,
    timeoutMs: null,
    ...more,
  };
}

const healthAfter = (ms: number, job = running({}), by = settings) => jobHealth(job, by, START + ms);

describe('by the thresholds of the seed', () => {
  test.each([
    [5 * MINUTE, 'healthy'],
    [5 * MINUTE + 1, 'warning'],
    [10 * MINUTE, 'warning'],
    [10 * MINUTE + 1, 'critical'],
    [60 * MINUTE, 'critical'],
    [60 * MINUTE + 1, 'overtime'],
  ])('silent for %i ms: %s', (ms, health) => {
    expect(healthAfter(ms)).toMatchObject({ health, silentMs: ms, elapsedMs: ms, lastEvent: 'job.started' });
  });

  test('a heartbeat counts from when it came, and overtime from the begin of the run whatever the heartbeats', () => {
    const beating = running({ seen: 58 * MINUTE });
    expect(healthAfter(60 * MINUTE, beating)).toMatchObject({
      health: 'healthy',
      silentMs: 2 * MINUTE,
      lastEvent: 'job.heartbeat',
    });
    expect(healthAfter(60 * MINUTE + 1, beating)).toMatchObject({ health: 'overtime', elapsedMs: 60 * MINUTE + 1 });
  });
});

describe('per task', () => {
  const own = healthSettings({
    jobs: { warningMs: 2 * MINUTE, criticalMs: 4 * MINUTE },
    tasks: { 'test.job': { warningMs: MINUTE, overtimeMs: 3 * MINUTE } },
  });
  test.each([
    [MINUTE, 'healthy'],
    [MINUTE + 1, 'warning'],
    [3 * MINUTE, 'warning'],
    [3 * MINUTE + 1, 'overtime'],
  ])('a type has levels of its own: %i ms is %s', (ms, health) => {
    expect(healthAfter(ms, running({}), own).health).toBe(health);
  });

  test('what it does not name is as for all', () => {
    const beyond = running({ type: 'other.job' });
    expect([2, 4].map((m) => healthAfter(m * MINUTE, beyond, own).health)).toEqual(['healthy', 'warning']);
    expect(healthAfter(4 * MINUTE + 1, beyond, own).health).toBe('critical');
  });
});

describe('a long lease', () => {
  const hour = running({ leaseMs: 60 * MINUTE, timeoutMs: 120 * MINUTE });
  test.each([
    [30 * MINUTE, 'healthy'],
    [30 * MINUTE + 1, 'warning'],
    [60 * MINUTE, 'warning'],
    [60 * MINUTE + 1, 'critical'],
    [120 * MINUTE + 1, 'overtime'],
  ])('lets its worker be silent for longer: %i ms is %s', (ms, health) => {
    expect(healthAfter(ms, hour).health).toBe(health);
  });

  test('a level of the type holds whatever the lease', () => {
    const by = healthSettings({ tasks: { 'test.job': { warningMs: MINUTE, criticalMs: 2 * MINUTE } } });
    expect(healthAfter(2 * MINUTE + 1, hour, by).health).toBe('critical');
  });

  test('one that the timeout of the run cuts short tells nothing of the last sign', () => {
    const cut = running({ leaseMs: 60 * MINUTE, leaseUntil: START + 90 * MINUTE, timeoutAt: START + 90 * MINUTE });
    expect(healthAfter(50 * MINUTE, cut)).toMatchObject({ health: 'healthy', silentMs: 0 });
  });
});

test('a job that does not run has no health: one that waits for a review is not stuck, and a finished one is over', () => {
  for (const state of ['pending', 'completed', 'retryable'] as const)
    expect(jobHealth(aJobIn(state), settings, START + 90 * MINUTE)).toMatchObject({
      state,
      health: null,
      silentMs: null,
    });
});
