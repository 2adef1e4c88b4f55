import type { Logger } from '@waybill/core';

/**
 * What is streamed: the log, a journal, or the bare bytes of one. By RPC also jobs to a worker, and what runs of a worker
 * publish.
 */
export type StreamKind = 'events' | 'journal' | 'output' | 'jobs' | 'publish';

interface StreamFact {
  kind: StreamKind;
}

/** Called as streams of the server begin and end, for metrics. Every method may be left out. */
export interface StreamObserver {
  opened?(stream: StreamFact): void;
  /** However it ended. */
  closed?(stream: StreamFact): void;
  /** A reader that took nothing for too long was disconnected; it may resume. Called before `closed`. */
  cutOff?(stream: StreamFact): void;
}

/** The observer as the server may call it: what it throws is logged once and changes nothing. */
export function guardedStreams(observer: StreamObserver, logger: Logger): StreamObserver {
  let hasFailed = false;
  const guarded = (name: keyof StreamObserver) => (stream: StreamFact) => {
    try {
      observer[name]?.(stream);
    } catch (error) {
      if (!hasFailed) logger.warn({ err: error }, 'An observer of streams failed. Its metrics may be incomplete.');
      hasFailed = true;
    }
  };
  return { opened: guarded('opened'), closed: guarded('closed'), cutOff: guarded('cutOff') };
}
