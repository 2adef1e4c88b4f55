import type { Instruments } from './instruments.ts';

interface StreamFact {
  kind: string;
}

/** Told of the streams of a server as they come and go; fits `AppOptions.observeStreams` of @waybill/server. */
export interface StreamObserver {
  opened(stream: StreamFact): void;
  /** However it ended. */
  closed(stream: StreamFact): void;
  /** The reader took nothing for too long and was disconnected. `closed` follows. */
  cutOff(stream: StreamFact): void;
}

/** The readers of a server by what they follow. No ids: a job that is followed by thousands is one series. */
export const streamMetrics = (instruments: Instruments): StreamObserver => ({
  opened: ({ kind }) => instruments.tell('streams', 1, { kind }),
  closed: ({ kind }) => instruments.tell('streams', -1, { kind }),
  cutOff: ({ kind }) => instruments.tell('overflow', 1, { kind }),
});
