import { eventIdOf, isJobEvent as isAboutJob, type LoggedEvent } from '@waybill/core';
import { type BusEvent, type EventContext, type EventProperties, textOf } from './envelope.ts';
import { busTypeOf, isTaskEvent, type JobEventType } from './event-types.ts';
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
    if (busTypeOf(event) === undefined) return null;
    return isAboutJob(event) ? this.#task(event) : this.#job(event);
  }

  async #task(event: LoggedEvent & { jobId: string }): Promise<BusEvent | null> {
    const task = await this.#facts.task(event);
    const { taskId, jobId, role } = task;
    const type = busTypeOf(event, role);
    if (type === undefined || !isTaskEvent(type)) return null;
    const told = event.data['iteration'];
    const iteration = role === 'gate' && typeof told === 'number' ? told : task.iteration;
    const ids = { requestId: taskId, ...(jobId !== undefined && { jobId }), rowId: event.jobId };
    const properties = await taskProperties(type, event, task, this.#facts);
    const workerId = textOf(event.data['worker_id']);
    return this.#sealed(event, {
      ...{ eventType: type, entityType: 'TASK', entityId: taskEntity({ jobId, taskId }) },
      order: orderOf(event, { iteration, isGate: role === 'gate' }),
      context: { ...this.#context(originOf(type, event)), ...(workerId !== undefined && { workerId }) },
      properties: { ...ids, iteration, run: event.run ?? 0, ...properties },
    });
  }

  async #job(event: LoggedEvent): Promise<BusEvent> {
    const [type, jobId] = [busTypeOf(event) as JobEventType, event.subject!];
    const told = await jobProperties(type, event, this.#facts);
    return this.#sealed(event, {
      ...{ eventType: type, entityType: 'JOB', entityId: encodeURIComponent(jobId) },
      order: orderOf(event, { iteration: 0, isGate: false }),
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
