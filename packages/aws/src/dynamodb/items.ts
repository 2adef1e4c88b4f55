import type { AttributeValue } from './sdk.ts';

/** All that our items are made of: text, numbers, lists of text, and bytes. What is absent is null or false. */
export type Value = string | number | readonly string[] | Uint8Array;
export type Item = Record<string, Value>;

export interface Key {
  pk: string;
  sk: string;
}

export const keyOf = (item: Item): Key => ({ pk: item['pk'] as string, sk: item['sk'] as string });

export function toValue(value: Value): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (value instanceof Uint8Array) return { B: value };
  return { L: value.map((text) => ({ S: text })) };
}

export function toAttributes(item: Item | Key): Record<string, AttributeValue> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toValue(value as Value)]));
}

function fromValue(value: AttributeValue): Value {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.B !== undefined) return value.B;
  return (value.L ?? []).map(({ S }) => S ?? '');
}

export function fromAttributes(attributes: Record<string, AttributeValue>): Item {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, fromValue(value)]));
}

/** Without what is null, undefined or false; true becomes 1. */
export function present(fields: Record<string, Value | boolean | null | undefined>): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined || value === false) continue;
    item[name] = value === true ? 1 : value;
  }
  return item;
}

export const text = (item: Item, name: string): string | null => (item[name] as string | undefined) ?? null;
export const number = (item: Item, name: string): number | null => (item[name] as number | undefined) ?? null;

/** What DynamoDB bills an item by, nearly: names and values; numbers by their digits. */
export function sizeOf(item: Item): number {
  let size = 0;
  for (const [name, value] of Object.entries(item)) {
    size += name.length;
    if (typeof value === 'number') size += Math.ceil(String(value).length / 2) + 1;
    else if (typeof value === 'string') size += Buffer.byteLength(value);
    else if (value instanceof Uint8Array) size += value.byteLength;
    else size += value.reduce((sum, one) => sum + one.length + 1, 3);
  }
  return size;
}
