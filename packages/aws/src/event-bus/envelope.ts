import { isObject, type Json, type JsonObject } from '@waybill/core';
import { type BusEventType, isJobEvent, isTaskEvent } from './event-types.ts';
import type { EntityType, EventKeys } from './keys.ts';

export const DETAIL_TYPE = 'log-event';
const SOURCE_PREFIX = 'task-workflow.';

export const sourceOf = (app: string): string => SOURCE_PREFIX + app;

export interface EventContext extends JsonObject {
  source: 'system';
  environment: string;
  /** Which part tells it: `worker`, `engine`, `dlq`. */
  origin: string;
}

/** One event as it is on the bus and in the table: the sender computes everything, keys included. */
export interface BusEvent extends EventKeys {
  /** The same however often the event is sent. */
  eventId: string;
  eventType: BusEventType;
  entityType: EntityType;
  entityId: string;
  tenantId: string;
  app: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
  order: string;
  context: EventContext;
  properties: EventProperties;
}

export type EventProperties = JsonObject & {
  /** Of events of tasks: the name of the task within its job, or the id of a task without a job. */
  requestId?: string;
  /** The job that it belongs to. */
  jobId?: string;
  /** Of events of tasks: the id of the row in Waybill, by which handlers ask for the truth. */
  rowId?: string;
};

/** What EventBridge gives to a target, as far as it is needed here. */
export interface DeliveredEvent {
  'detail-type': string;
  source?: string;
  time?: string;
  detail: unknown;
}

const TEXTS = ['eventId', 'eventType', 'entityType', 'entityId', 'tenantId', 'app', 'order', 'pk', 'sk'] as const;

/** Null: it is none of these events. The bus may carry others, and anybody who may put events can put what he likes. */
export function readBusEvent(detail: unknown): BusEvent | null {
  if (!isObject(detail)) return null;
  const { eventType, timestamp, context, properties } = detail as JsonObject;
  if (TEXTS.some((name) => typeof (detail as JsonObject)[name] !== 'string')) return null;
  const isKnown = isTaskEvent(eventType as string) || isJobEvent(eventType as string);
  if (!isKnown || typeof timestamp !== 'number' || !isObject(context) || !isObject(properties)) return null;
  return detail as unknown as BusEvent;
}

/** The event of a delivery by EventBridge; null: it is none of these. */
export const eventIn = ({ 'detail-type': type, detail }: DeliveredEvent): BusEvent | null =>
  type === DETAIL_TYPE ? readBusEvent(detail) : null;

export const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
