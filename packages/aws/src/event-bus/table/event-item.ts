import type { JsonObject } from '@waybill/core';
import type { Item } from '../../dynamodb/items.ts';
import { type BusEvent, type EventContext, type EventProperties, readBusEvent } from '../envelope.ts';

/** The attribute by which DynamoDB removes what is old, in seconds since the epoch. */
export const TTL = 'ttl';

/** An event as the table has it. */
export interface StoredEvent extends BusEvent {
  /** When it was saved first, in milliseconds since the epoch. */
  receivedAt: number;
}

/** Properties are kept as JSON: those of a task may be nested deeper, and have other numbers, than an item can have. */
export function itemOf({ context, properties, ...rest }: StoredEvent, expiresAt: number): Item {
  const item: Item = { context: JSON.stringify(context), properties: JSON.stringify(properties) };
  for (const [name, value] of Object.entries(rest))
    if (typeof value === 'string' || typeof value === 'number') item[name] = value;
  return { ...item, [TTL]: expiresAt };
}

/** Null: the item is none of these, or damaged. */
export function eventOf(item: Item): StoredEvent | null {
  const context = parsed(item['context']);
  const properties = parsed(item['properties']);
  if (!context || !properties) return null;
  const event = readBusEvent({ ...item, context, properties });
  if (!event) return null;
  const { [TTL]: _, ...fields } = item;
  const told = { context: context as EventContext, properties: properties as EventProperties };
  return { ...(fields as unknown as StoredEvent), ...told };
}

function parsed(text: Item[string] | undefined): JsonObject | null {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as JsonObject) : null;
  } catch {
    return null;
  }
}
