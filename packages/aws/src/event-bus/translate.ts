import { eventIdOf, isJobEvent as isAboutJob, type LoggedEvent } from '@waybill/core';
import { type BusEvent, type EventContext, type EventProperties, textOf } from './envelope.ts';
import { type BusEventType, busTypeOf, isTaskEvent, type JobEventType } from './event-types.ts';
import { type FactSource, Facts } from './facts.ts';
import { jobProperties } from './job-properties.ts';
import { type KeyFacts, keysOf, taskEntity } from './keys.ts';
import { orderOf } from './order.ts';
import { originOf, taskProperties } from './task-properties.ts';

export interface TranslationOptions {
  source: FactSource;
  app: string;
  environment: string;
}

/** Makes events of the log into events of the bus. */
export class Translation {
  readonly #options: TranslationOptions;
  readonly #facts: Facts;

  constructor(options: TranslationOptions) {
    this.#options = options;
    this.#facts = new Facts(options.source);
  }

  /** Null: the event is not for the bus. The event is as sinks get it, with what is kept outside of the log. */
  async of(event: LoggedEvent): Promise<BusEvent | null> {
    const type = busTypeOf(event);
    if (type === undefined) return null;
    return isAboutJob(event) ? this.#task(type, event) : this.#job(type as JobEventType, event);
  }

  async #task(type: BusEventType, event: LoggedEvent & { jobId: string }): Promise<BusEvent | null> {
    if (!isTaskEvent(type)) return null;
    // First what may read the row, which then need not be read again.
    const told = await taskProperties(type, event, this.#facts);
    const { taskId, jobId, bornAt } = await this.#facts.task(event);
    const ids = { requestId: taskId, ...(jobId !== undefined && { jobId }), rowId: event.jobId };
    const workerId = textOf(event.data['worker_id']);
    return this.#sealed(event, {
      ...{
        eventType: type,
        entityType: 'TASK',
        entityId: taskEntity({ jobId, taskId }),
        order: orderOf(event, bornAt),
      },
      context: { ...this.#context(originOf(type, event)), ...(workerId !== undefined && { workerId }) },
      properties: { ...ids, iteration: 1, run: event.run ?? 0, ...told },
    });
  }

  async #job(type: JobEventType, event: LoggedEvent): Promise<BusEvent> {
    const jobId = event.subject!;
    const told = await jobProperties(type, event, this.#facts);
    return this.#sealed(event, {
      ...{ eventType: type, entityType: 'JOB', entityId: encodeURIComponent(jobId), order: orderOf(event, 0) },
      ...{ context: this.#context('engine'), properties: { jobId, ...told } },
    });
  }

  #context(origin: string): EventContext {
    return { source: 'system', environment: this.#options.environment, origin };
  }

  #sealed(
    event: LoggedEvent,
    told: Pick<KeyFacts, 'eventType' | 'entityType' | 'entityId' | 'order'> & {
      context: EventContext;
      properties: EventProperties;
    },
  ): BusEvent {
    const { context, properties, ...rest } = told;
    const { app } = this.#options;
    const facts = { ...rest, tenantId: event.tenant, timestamp: event.at, eventId: eventIdOf(event), app };
    return { ...facts, context, properties, ...keysOf(facts) };
  }
}
