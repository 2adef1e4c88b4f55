import { toValue, type Value } from './items.ts';
import type { AttributeValue } from './sdk.ts';

interface UsedWords {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
}

/** Collects names and values of one request. Every name is aliased: DynamoDB reserves hundreds of common words. */
export class Words {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, AttributeValue> = {};

  name(attribute: string): string {
    this.names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  }

  value(value: Value): string {
    const alias = `:${Object.keys(this.values).length}`;
    this.values[alias] = toValue(value);
    return alias;
  }

  /** DynamoDB refuses empty maps. */
  used(): UsedWords {
    return {
      ...(Object.keys(this.names).length > 0 && { ExpressionAttributeNames: this.names }),
      ...(Object.keys(this.values).length > 0 && { ExpressionAttributeValues: this.values }),
    };
  }
}

/** What an item must be for a write to go in. */
export type Condition = (words: Words) => string;

export const exists =
  (attribute = 'pk'): Condition =>
  (words) =>
    `attribute_exists(${words.name(attribute)})`;

export const absent =
  (attribute = 'pk'): Condition =>
  (words) =>
    `attribute_not_exists(${words.name(attribute)})`;

/** Of a list. */
export const lacks =
  (attribute: string, value: string): Condition =>
  (words) =>
    `NOT contains(${words.name(attribute)}, ${words.value(value)})`;

/** A list has this value at this place. */
export const holdsAt =
  (attribute: string, place: number, value: string): Condition =>
  (words) =>
    `${words.name(attribute)}[${place}] = ${words.value(value)}`;

/** Null stands for an attribute that is not there. */
export const equals = (attribute: string, value: Value | null): Condition =>
  value === null ? absent(attribute) : (words) => `${words.name(attribute)} = ${words.value(value)}`;

export const differs =
  (attribute: string, value: Value): Condition =>
  (words) =>
    `attribute_not_exists(${words.name(attribute)}) OR ${words.name(attribute)} <> ${words.value(value)}`;

export const atMost =
  (attribute: string, value: Value): Condition =>
  (words) =>
    `${words.name(attribute)} <= ${words.value(value)}`;

export const more =
  (attribute: string, value: Value): Condition =>
  (words) =>
    `${words.name(attribute)} > ${words.value(value)}`;

export const less =
  (attribute: string, value: Value): Condition =>
  (words) =>
    `${words.name(attribute)} < ${words.value(value)}`;

export const between =
  (attribute: string, from: Value, to: Value): Condition =>
  (words) =>
    `${words.name(attribute)} BETWEEN ${words.value(from)} AND ${words.value(to)}`;

export const begins =
  (attribute: string, prefix: string): Condition =>
  (words) =>
    `begins_with(${words.name(attribute)}, ${words.value(prefix)})`;

const joined =
  (word: string) =>
  (...conditions: Condition[]): Condition =>
  (words) =>
    conditions.map((condition) => `(${condition(words)})`).join(` ${word} `);

export const all = joined('AND');
export const any = joined('OR');
