import type { Clock } from '../clock.ts';
import type { Told } from '../events/subject-event.ts';
import type { JsonObject } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { Sink } from './sink.ts';

interface FactParts {
  tell(told: Told): Promise<void>;
  clock: Clock;
  logger: Logger;
}

/** What the log says about a sink. */
export class SinkFacts {
  readonly #sink: Sink;
  readonly #parts: FactParts;

  constructor(sink: Sink, parts: FactParts) {
    this.#sink = sink;
    this.#parts = parts;
  }

  pruned(): Promise<void> {
    return this.#tell('missed', {}, 'Events were pruned before a sink got them.');
  }

  /** Events that are not tried any more. They can be sent again by their ids. */
  setAside(data: JsonObject): Promise<void> {
    return this.#tell('missed', data, 'Events of a sink were refused again and again, and set aside.');
  }

  paused(reason: string): Promise<void> {
    return this.#tell('paused', { reason }, 'A sink was paused.');
  }

  async #tell(fact: 'missed' | 'paused', data: JsonObject, message: string): Promise<void> {
    const { clock, logger, tell } = this.#parts;
    const { id: subject, tenant, facts } = this.#sink;
    if (facts) await tell({ type: facts[fact], tenant, subject, at: clock.now(), data });
    logger.warn({ sink: subject, tenant, ...data }, message);
  }
}

const LONGEST_REASON = 300;

/** One line. */
export function reasonOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim();
  return text.length <= LONGEST_REASON ? text : `${text.slice(0, LONGEST_REASON - 1)}…`;
}
