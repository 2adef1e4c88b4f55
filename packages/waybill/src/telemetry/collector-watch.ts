import type { Logger } from '@waybill/core';
import type { CollectorConnections } from './collector-connections.ts';

/** What an exporter answers; 0 is success. As @opentelemetry/core has it, which is not loaded for this. */
interface ExportResult {
  code: number;
  error?: Error;
}

const FAILED = 1;

/** Between two warnings about the same collector. */
const QUIET_MS = 60_000;

/** As much of an exporter of spans or metrics as is called here. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** What a collector takes, and where it is, for the log. */
export interface Destination {
  signal: 'traces' | 'metrics';
  endpoint: string;
}

/**
 * Watches an exporter: a collector that is away is told once, and once more when it is back, however many exports fail in
 * between. What could not be sent is dropped by the SDK, so memory stays bounded.
 */
export class CollectorWatch {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #destination: Destination;
  readonly #now: () => number;
  #isAway = false;
  #isClosing = false;
  /** Whether the last that was told is that it is away. */
  #isTold = false;
  #quietUntil = 0;
  #connections: Pick<CollectorConnections, 'mostMs' | 'cut'> | undefined;

  constructor(destination: Destination, logger: Pick<Logger, 'info' | 'warn'>, now: () => number = Date.now) {
    this.#destination = destination;
    this.#logger = logger;
    this.#now = now;
  }

  /** The same exporter, which tells this watch what its exports come to. One that takes too long is cut off. */
  over<E extends Exporter<never>>(exporter: E, connections?: Pick<CollectorConnections, 'mostMs' | 'cut'>): E {
    this.#connections = connections;
    const send = exporter.export.bind(exporter) as Exporter<unknown>['export'];
    const watched = (items: unknown, done: (result: ExportResult) => void): void => {
      // One try is enough at the end: a second one would keep the process for another deadline.
      if (this.#isClosing && this.#isAway) done({ code: FAILED });
      else {
        const late = connections && setTimeout(() => connections.cut(), connections.mostMs).unref();
        send(items, (result) => {
          clearTimeout(late);
          this.#heard(result);
          done(result);
        });
      }
    };
    return Object.assign(exporter, { export: watched });
  }

  close(): void {
    this.#isClosing = true;
  }

  /** Nothing is waited for any more: an open connection would keep the process alive. */
  end(): void {
    this.#connections?.cut();
  }

  #heard({ code, error }: ExportResult): void {
    this.#isAway = code !== 0;
    const now = this.#now();
    // One that comes and goes is told of once in a while, too.
    if (this.#isAway === this.#isTold || (this.#isAway && now < this.#quietUntil)) return;
    this.#isTold = this.#isAway;
    if (this.#isAway) {
      this.#quietUntil = now + QUIET_MS;
      const facts = { ...this.#destination, reason: reasonOf(error) };
      this.#logger.warn(facts, 'The collector takes no telemetry. Jobs go on; what cannot be sent is dropped.');
    } else this.#logger.info(this.#destination, 'The collector takes telemetry again.');
  }
}

/** A status or a code of the system alone: a message may quote an answer, or an address with a key in it. */
function reasonOf(error: Error | undefined): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const told = code ?? cause?.code;
  return typeof told === 'number' ? `HTTP ${told}` : typeof told === 'string' ? told : (error?.name ?? 'unknown');
}
