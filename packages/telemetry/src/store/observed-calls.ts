import { type Attributes, SpanKind } from '@opentelemetry/api';
import { isLockHeld, WaybillError } from '@waybill/core';
import type { Instruments } from '../metrics/instruments.ts';
import { nowMs } from '../trace/span-time.ts';
import { errorType, NO_PARENT, type Spans } from '../trace/spans.ts';
import { belongingOf, type TraceCarrier } from '../trace/trace-context.ts';

export interface Told {
  /** How many rows, hints or blobs it was about. */
  count?: number;
  bytes?: number;
  /** Of what the call was about, so that its span is in their trace, or has a link to each. */
  traces?: Iterable<TraceCarrier>;
}

/** What is told of a call; whoever tells nothing was called by whatever is active. */
export interface Telling<Answer> {
  /** By what was asked. */
  asked?(): Told;
  /** By the answer; null: it found nothing, as polls mostly do, and gets no span. */
  found?(answer: Answer): Told | null;
}

export interface CallParts {
  spans: Spans;
  instruments: Instruments;
}

/**
 * Measures the calls of one store, transport or blob store. A span is made when the answer is there, because only then
 * its trace is known: calls of many callers share one flush, and whoever came first is not whose call it is.
 */
export class ObservedCalls {
  readonly #parts: CallParts;
  readonly #kind: 'store' | 'transport' | 'blobs';
  readonly #name: string;
  readonly #labels = new Map<string, Attributes>();

  constructor(parts: CallParts, kind: 'store' | 'transport' | 'blobs', name: string) {
    this.#parts = parts;
    this.#kind = kind;
    this.#name = name;
  }

  async run<Answer>(operation: string, call: () => Promise<Answer>, telling: Telling<Answer> = {}): Promise<Answer> {
    const startMs = nowMs();
    let answer: Answer;
    try {
      answer = await call();
    } catch (error) {
      const isFailure = isFailureOfStore(error);
      if (isFailure) this.#parts.instruments.tell('storeErrors', 1, this.#labelsOf(operation));
      this.#tell(operation, startMs, () => telling.asked?.() ?? {}, isFailure ? error : undefined);
      throw error;
    }
    this.#tell(operation, startMs, () => (telling.found ? telling.found(answer) : (telling.asked?.() ?? {})));
    return answer;
  }

  #tell(operation: string, startMs: number, tell: () => Told | null, error?: unknown): void {
    const { spans, instruments } = this.#parts;
    const endMs = nowMs();
    instruments.tell('storeDuration', (endMs - startMs) / 1_000, this.#labelsOf(operation));
    if (!spans.isOn) return;
    const told = tell();
    if (told === null) return;
    const { count, bytes, traces } = told;
    const belonging = traces && belongingOf(traces);
    spans.record(
      {
        name: `${this.#kind}.${operation}`,
        kind: SpanKind.CLIENT,
        attributes: {
          [`waybill.${this.#kind}.name`]: this.#name,
          [`waybill.${this.#kind}.operation`]: operation,
          ...(count !== undefined && { 'waybill.count': count }),
          ...(bytes !== undefined && { 'waybill.bytes': bytes }),
        },
        // A call that names no rows was made by whoever is active.
        parent: belonging ? (belonging.parent ?? NO_PARENT) : undefined,
        links: belonging?.links,
        startMs,
        onlySampled: true,
      },
      { endMs, ...(error !== undefined && { error: errorType(error) }) },
    );
  }

  #labelsOf(operation: string): Attributes {
    const known = this.#labels.get(operation);
    if (known) return known;
    const made = { store: this.#name, operation };
    this.#labels.set(operation, made);
    return made;
  }
}

/** Codes that are about what was asked, such as a cursor that the store does not know. */
const ANSWERS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_payload',
  'not_found',
  'conflict',
  'unsupported',
]);

/** A lock that another transaction holds is an answer, too: the engine asks again. */
const isFailureOfStore = (error: unknown): boolean =>
  !isLockHeld(error) && !(error instanceof WaybillError && ANSWERS.has(error.code));
