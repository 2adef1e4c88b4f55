import { type Condition, Words } from './conditions.ts';
import { type Item, type Key, toAttributes } from './items.ts';
import type { TransactWriteItem } from './sdk.ts';

/** One write of one item. */
export type Write =
  | { put: Item; if?: Condition }
  | { update: Key; change: Update; if?: Condition }
  | { delete: Key; if?: Condition }
  | { check: Key; if: Condition };

export interface Update {
  set?: Item;
  remove?: readonly string[];
  /** Numbers to count up by. */
  add?: Record<string, number>;
  /** Lists to lengthen; they must be there. */
  append?: Record<string, readonly string[]>;
  /** Places of lists to take out. The rest moves up. */
  removeAt?: Record<string, readonly number[]>;
}

const ON_FAILURE = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** In the words of a transaction, which are those of the single requests too. */
export function encodeWrite(TableName: string, write: Write): TransactWriteItem {
  const words = new Words();
  const update = 'update' in write ? { UpdateExpression: updateText(write.change, words) } : undefined;
  const condition = write.if && { ConditionExpression: write.if(words) };
  const rest = { TableName, ...condition, ...words.used(), ...ON_FAILURE };
  if ('put' in write) return { Put: { Item: toAttributes(write.put), ...rest } };
  if ('delete' in write) return { Delete: { Key: toAttributes(write.delete), ...rest } };
  if ('check' in write)
    return {
      ConditionCheck: { Key: toAttributes(write.check), ...rest, ConditionExpression: condition!.ConditionExpression! },
    };
  return { Update: { Key: toAttributes(write.update), ...rest, ...update! } };
}

function updateText({ set = {}, remove = [], add = {}, append = {}, removeAt = {} }: Update, words: Words): string {
  const sets = Object.entries(set).map(([name, value]) => `${words.name(name)} = ${words.value(value)}`);
  for (const [name, texts] of Object.entries(append)) {
    sets.push(`${words.name(name)} = list_append(${words.name(name)}, ${words.value(texts)})`);
  }
  const removes = remove.map((name) => words.name(name));
  for (const [name, places] of Object.entries(removeAt)) {
    removes.push(...places.map((place) => `${words.name(name)}[${place}]`));
  }
  const adds = Object.entries(add).map(([name, by]) => `${words.name(name)} ${words.value(by)}`);
  return [
    sets.length > 0 ? `SET ${sets.join(', ')}` : '',
    removes.length > 0 ? `REMOVE ${removes.join(', ')}` : '',
    adds.length > 0 ? `ADD ${adds.join(', ')}` : '',
  ].join(' ');
}
