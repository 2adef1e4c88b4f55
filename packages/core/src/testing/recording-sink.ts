import type { LoggedEvent } from '../events/job-event.ts';
import type { Sink, SinkDelivery, SinkFilter } from '../sinks/sink.ts';

/** The log has no kind of event for tests, so one is borrowed. */
export const RECORDING_FACTS = { paused: 'key.sink_paused', missed: 'key.sink_missed' } as const;

export interface RecordingSink extends Sink {
  /** Deliveries that were accepted, in order. */
  readonly got: SinkDelivery[];
  /** Every try, also those that failed. */
  readonly tries: SinkDelivery[];
  /** What it does with a delivery before it accepts it; may throw. */
  behave: (delivery: SinkDelivery, signal: AbortSignal) => Promise<void> | void;
  /** Resolves when so many were accepted since it was made. */
  whenGot(count: number): Promise<void>;
}

/** A receiver in the same process that notes everything, and fails as the test wants it to. */
export function recordingSink(id = 's', filter: SinkFilter = {}, tenant = ''): RecordingSink {
  const got: SinkDelivery[] = [];
  const tries: SinkDelivery[] = [];
  let watchers: { count: number; tell(): void }[] = [];
  const sink: RecordingSink = {
    ...{ id, tenant, filter, got, tries, behave: () => {} },
    facts: RECORDING_FACTS,
    deliver: async (delivery, signal) => {
      tries.push(delivery);
      await sink.behave(delivery, signal);
      got.push(delivery);
      const met = watchers.filter(({ count }) => got.length >= count);
      watchers = watchers.filter((watcher) => !met.includes(watcher));
      for (const { tell } of met) tell();
    },
    whenGot: async (count) => {
      if (got.length < count) await new Promise<void>((tell) => watchers.push({ count, tell }));
    },
  };
  return sink;
}

/** The key of a delivered event, as one word. */
export const wordOf = ({ event }: { event: LoggedEvent }): string => `${event.type} ${event.jobId ?? event.subject}`;
