import { type Job, lastError } from '@waybill/core';
import { task } from '@waybill/worker';

export interface ChaosSettings {
  url: string;
  schema: string;
  /** The file that all workers append to. */
  notes: string;
  leaseMs: number;
}

export interface Note {
  kind: 'start' | 'end';
  id: string;
  run: number;
  at: number;
}

/** Whether this run stands in for one whose worker fell silent. */
export const isRescue = (job: Job): boolean => lastError(job)?.code === 'visibility_timeout';

/** So long that the one who was given up may come back in its midst. */
const RESCUE_MS = 400;

/** Takes a few milliseconds, and sometimes fails the first time. */
export const chaosTask = (note: (kind: Note['kind'], job: Job) => void = () => {}) =>
  task('chaos.job', {
    queue: 'chaos',
    // A job may lose its worker, or its server, time and again.
    retry: { max_attempts: 1_000, initial_interval: 'PT0.05S', max_interval: 'PT0.1S' },
    run: async ({ n }: { n: number }, { job, attempt }) => {
      note('start', job);
      await new Promise((resolve) => setTimeout(resolve, isRescue(job) ? RESCUE_MS : n % 25));
      note('end', job);
      if (n % 20 === 0 && attempt === 1) throw new Error('The first time this fails.');
      return n;
    },
  });
