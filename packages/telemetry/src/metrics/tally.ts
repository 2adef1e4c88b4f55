import type { Attributes } from '@opentelemetry/api';
import type { Job } from '@waybill/core';
import type { Instruments } from './instruments.ts';
import type { MetricKey } from './metrics-table.ts';

interface Entry {
  key: MetricKey;
  job: Job;
  state: string;
  attributes: Attributes;
  count: number;
}

/** Counts the jobs of a batch before they are told, so that a thousand of one queue are one call. */
export class Tally {
  readonly #entries = new Map<string, Entry>();
  #last: Entry | undefined;

  /** `attributes` are made with the first job of a queue, tenant and state only. */
  count(key: MetricKey, job: Job, attributes: (job: Job, state: string) => Attributes, state = ''): void {
    // Neighbours are mostly alike, and then no key is made.
    const last = this.#last;
    if (last?.key === key && last.state === state && last.job.queue === job.queue && last.job.tenant === job.tenant) {
      last.count += 1;
      return;
    }
    const place = `${key}\n${job.tenant}\n${job.queue}\n${state}`;
    const entry = this.#entries.get(place) ?? { key, job, state, attributes: attributes(job, state), count: 0 };
    entry.count += 1;
    this.#entries.set(place, entry);
    this.#last = entry;
  }

  tell(instruments: Instruments): void {
    for (const { key, attributes, count } of this.#entries.values()) instruments.tell(key, count, attributes);
  }
}
