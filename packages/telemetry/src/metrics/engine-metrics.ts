import type { Attributes } from '@opentelemetry/api';
import type { EngineObserver, Job } from '@waybill/core';
import type { Instruments } from './instruments.ts';
import { Tally } from './tally.ts';

/** What an engine tells of itself, as metrics. */
export function engineMetrics(instruments: Instruments): EngineObserver {
  const labelsOf = ({ queue, tenant }: Job) => instruments.ofQueue(queue, tenant);
  const labelsOfEnd = (job: Job, state: string) => ({ ...labelsOf(job), state });
  return {
    inserted: (jobs) => {
      const tally = new Tally();
      for (const job of jobs) tally.count('enqueued', job, labelsOf);
      tally.tell(instruments);
    },
    claimed: (jobs) => {
      const tally = new Tally();
      let last: { job: Job; labels: Attributes } | undefined;
      for (const job of jobs) {
        if (last?.job.queue !== job.queue || last.job.tenant !== job.tenant) last = { job, labels: labelsOf(job) };
        tally.count('dequeued', job, labelsOf);
        instruments.tell('wait', waitedSeconds(job), last.labels);
      }
      tally.tell(instruments);
    },
    changed: (changes) => {
      const tally = new Tally();
      for (const { job, events } of changes) {
        for (const { type } of events) {
          if (type === 'job.retrying') tally.count('retried', job, labelsOf);
          else if (type === 'job.lease_expired') tally.count('leasesLost', job, labelsOf);
          else if (ENDS.has(type)) {
            tally.count('completed', job, labelsOfEnd, job.state);
            if (job.dead) tally.count('deadLettered', job, labelsOf);
          }
        }
      }
      tally.tell(instruments);
    },
    extended: ({ extended }) => {
      if (extended > 0) instruments.tell('visibilityUpdates', extended);
    },
    swept: ({ lagMs }) => instruments.tell('sweepLag', lagMs / 1_000),
  };
}

const ENDS: ReadonlySet<string> = new Set(['job.completed', 'job.cancelled', 'job.discarded', 'job.expired']);

/** By the rows' own times, so that it is right across processes. */
const waitedSeconds = ({ startedAt, enqueuedAt, scheduledAt, createdAt }: Job): number =>
  Math.max(0, (startedAt ?? createdAt) - (enqueuedAt ?? scheduledAt ?? createdAt)) / 1_000;
