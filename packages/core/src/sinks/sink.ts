import type { LoggedEvent } from '../events/job-event.ts';
import type { RecordEventType } from '../events/subject-event.ts';
import type { ALL_TENANTS } from '../store/event-log.ts';

/** Names a sink; its state is kept under both. */
export interface SinkKey {
  readonly tenant: string;
  readonly id: string;
}

/** Every field narrows; an absent one does not. */
export interface SinkFilter {
  readonly types?: readonly string[];
  /** Events of their jobs and of the queues themselves. */
  readonly queues?: readonly string[];
  /** Only events of jobs of these types. */
  readonly jobTypes?: readonly string[];
}

/** One event on its way to a sink. */
export interface SinkDelivery {
  /** The same for every try of an event, so that a receiver that sees it twice can tell. */
  readonly id: string;
  readonly event: LoggedEvent;
  /** From 1. */
  readonly attempt: number;
}

export interface SinkTarget {
  /** What sort of sink it is: `webhook`. */
  readonly kind: string;
  readonly host?: string;
}

/** One try to deliver, as an observer sees it. */
export interface DeliveryTry {
  readonly target: SinkTarget;
  readonly tenant: string;
  readonly eventType: string;
  /** From 1. */
  readonly attempt: number;
}

/** Stands around every try to deliver. It must call `deliver` once, and end as that ends. */
export type DeliveryObserver = (tried: DeliveryTry, deliver: () => Promise<void>) => Promise<void>;

/** Something outside that is told of what happens: a webhook, an event bus. */
export interface Sink extends SinkKey {
  readonly filter: SinkFilter;
  /** Whose events it gets: of all tenants, or those of its own. @defaultValue those of its own tenant */
  readonly of?: typeof ALL_TENANTS;
  /** Deliveries at the same time, each of another job or subject. @defaultValue 8 */
  readonly parallel?: number;
  /** Where it delivers, as far as traces and metrics may say it: neither paths nor queries, which may hold tokens. */
  readonly target?: SinkTarget;
  /** What the log says when the sink is paused, and when events were pruned before it got them. */
  readonly facts?: { readonly paused: RecordEventType; readonly missed: RecordEventType };
  /**
   * Changes when the sink must be started anew, because it delivers elsewhere or lets other events through.
   * @defaultValue the same for ever
   */
  readonly revision?: string;
  /**
   * Throws to have the event tried again; a `SinkRefusal` says more. Ends soon after the signal is aborted, which means
   * that this server may not deliver any more.
   */
  deliver(delivery: SinkDelivery, signal: AbortSignal): Promise<void>;
}

/** What should run now. Asked at start, at each `refresh` and once a minute. */
export interface SinkSource {
  list(): Promise<readonly Sink[]>;
}

export type SinkStatus = 'active' | 'paused';

/** The reason of a pause that a person has asked for. */
export const PAUSED_ON_REQUEST = 'It was asked for.';

/** A line (the events of a job, a queue, ..) that waits apart from the others: only its place in the log is kept. */
export interface ParkedLine {
  readonly line: string;
  /** The place before its first event that is not delivered. Null: the begin of the log. */
  after: string | null;
  /** The id of that event, where it is known. */
  first: string | null;
  /** The id of the last event that is left to it. Once that is delivered the line is as any other. */
  last: string;
  /** Failed tries of the first event. */
  failures: number;
  failingSince: number | null;
  /** As in `SinkState`. */
  failingMs: number;
}

/** What is kept of a sink, as a record of kind `sink-state`. Moments are milliseconds since the epoch. */
export interface SinkState {
  /** Everything up to here was delivered, except what is parked. Null: begin with the oldest event that is kept. */
  cursor: string | null;
  /** Events delivered since the sink exists; those of the last second before a crash may be missing. */
  delivered: number;
  /** Since when the oldest event that fails has been failing; null: none does. */
  failingSince: number | null;
  /**
   * For how long it has been failing, as the servers that tried it have measured. The wall clocks of servers differ and are
   * set, so that the time since `failingSince` says nothing.
   */
  failingMs: number;
  /** Failed tries since then. */
  failures: number;
  /** Of the last failed try; one line. Kept after the sink has recovered. */
  lastError: string | null;
  lastErrorAt: number | null;
  /** When the sink that fails is tried again. While it rests, this is the end of its rest. */
  nextTryAt: number | null;
  /** What the receiver refuses while it takes others, at most 200 lines. */
  parked: readonly ParkedLine[];
  /** Events were pruned before they were delivered, or set aside. Until `resume` or `moveTo`. */
  missed: boolean;
  status: SinkStatus;
  pausedReason: string | null;
}

/** A delivery that failed, and what the receiver said about the next try. */
export class SinkRefusal extends Error {
  /** Not sooner than this much later. */
  readonly retryAfterMs: number | undefined;
  /** The receiver wants nothing more: the sink is paused at once. */
  readonly isFinal: boolean;

  constructor(message: string, { retryAfterMs, isFinal = false }: { retryAfterMs?: number; isFinal?: boolean } = {}) {
    super(message);
    this.name = 'SinkRefusal';
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
  }
}

export interface SinkOptions {
  /** A sink whose oldest failing event has failed for this long is paused. @defaultValue 24 hours */
  pauseAfterMs?: number;
  /** For traces and metrics. @defaultValue none */
  observe?: DeliveryObserver;
  /**
   * What is read ahead of the oldest event that is not delivered, and the part of it that one line may have.
   * @defaultValue 1,000 events, 4 MB, a tenth
   */
  bounds?: { events: number; bytes: number; share: number };
}

/** Sinks that run in this process. */
export interface RunningSinks {
  /** The source lists something else now. */
  refresh(): void;
  /** Lets deliveries under way end, for a few seconds, and saves how far each sink is. */
  stop(): Promise<void>;
}

/** The part of the port that runs sinks and changes what is kept of them. For servers: only an operator may. */
export interface Sinks {
  /** Together with all servers of this store, each sink on one of them at a time. Ends with the engine at the latest. */
  run(source: SinkSource, options?: SinkOptions): RunningSinks;
  /**
   * Tenants that have or had records of a kind that sinks are made of, such as `webhook`: nothing else lists records of
   * all tenants. A sink of such a record begins where the log ended when the record was made.
   */
  tenantsWith(kind: string): Promise<readonly string[]>;
  /** The event as sinks get it, with what is kept outside of the log. Fails where that cannot be read now. */
  open(event: LoggedEvent): Promise<LoggedEvent>;
  /** Null: the sink has not begun, or there is none. */
  state(key: SinkKey): Promise<SinkState | null>;
  pause(key: SinkKey, reason: string): Promise<SinkState>;
  /** Also forgets what has failed so far: the next try comes at once. */
  resume(key: SinkKey): Promise<SinkState>;
  /** Goes on behind this cursor, as an event or a page of the log has it; null: from the oldest event kept. */
  moveTo(key: SinkKey, cursor: string | null): Promise<SinkState>;
}
