import { randomBytes, randomUUID } from 'node:crypto';
import { WaybillError } from '@waybill/core';
import type { Timeouts } from '../timeouts.ts';
import { type Condition, differs, Words } from './conditions.ts';
import { pause, withPatience } from './failures.ts';
import { fromAttributes, type Item, type Key, toAttributes } from './items.ts';
import type { AttributeValue, DynamoDBClient, Sdk } from './sdk.ts';
import type { Settings } from './settings.ts';
import { encodeWrite, type Write } from './writes.ts';

/** Whether the write went in; if not, the item that was in its way. */
export type Written = { ok: true; item?: Item } | { ok: false; old: Item | undefined };

export interface Query {
  index?: string;
  where: Condition;
  /** Reads these attributes' conditions after the index; items that fail it are read all the same. */
  filter?: Condition;
  limit?: number;
  backwards?: boolean;
  after?: Item;
  /** Answers only these attributes. The items are read, and paid for, as a whole. */
  only?: readonly string[];
}

export interface Found {
  items: Item[];
  /** Where to go on; absent at the end. */
  last?: Item;
}

const MOST_PER_READ = 100;
const MOST_ROUNDS = 20;
/** Requests of one call that are under way at once; the rest waits for them, not for a socket. */
const AT_ONCE = 32;

/** The few requests that the store makes, with patience for what passes by itself. */
export class Database {
  readonly table: string;
  readonly #sdk: Sdk;
  readonly #client: Pick<DynamoDBClient, 'send'>;
  readonly #timeouts: Timeouts;

  constructor(
    sdk: Sdk,
    client: Pick<DynamoDBClient, 'send'>,
    { table, timeouts }: Pick<Settings, 'table' | 'timeouts'>,
  ) {
    this.#sdk = sdk;
    this.#client = client;
    this.table = table;
    this.#timeouts = timeouts;
  }

  #patiently<T>(request: () => Promise<T>, onUncertain?: () => void): Promise<T> {
    return withPatience(request, this.#timeouts, onUncertain);
  }

  async get(key: Key, { strong = true } = {}): Promise<Item | undefined> {
    const input = { TableName: this.table, Key: toAttributes(key), ConsistentRead: strong };
    const { Item } = await this.#patiently(() => this.#client.send(new this.#sdk.GetItemCommand(input)));
    return Item && fromAttributes(Item);
  }

  /** In the order asked. */
  async getAll(keys: readonly Key[], { strong = true } = {}): Promise<(Item | undefined)[]> {
    const names = new Map(keys.map((key) => [nameOf(key), key]));
    const found = new Map<string, Item>();
    const wanted = [...names.values()];
    const parts: Key[][] = [];
    for (let from = 0; from < wanted.length; from += MOST_PER_READ) {
      parts.push(wanted.slice(from, from + MOST_PER_READ));
    }
    await inParallel(parts, async (part) => {
      for (const item of await this.#getPart(part, strong)) found.set(nameOf(item as unknown as Key), item);
    });
    return keys.map((key) => found.get(nameOf(key)));
  }

  async #getPart(keys: readonly Key[], strong: boolean): Promise<Item[]> {
    const items: Item[] = [];
    let rest: Record<string, AttributeValue>[] = keys.map(toAttributes);
    const latest = performance.now() + this.#timeouts.callMs - this.#timeouts.requestMs;
    for (let round = 0; rest.length > 0; round++) {
      if (round > MOST_ROUNDS || (round > 0 && performance.now() > latest)) throw leftUndone();
      // Whatever did not fit or was throttled comes back as undone.
      if (round > 0) await pause(Math.min(round, 5));
      const RequestItems = { [this.table]: { Keys: rest, ConsistentRead: strong } };
      const answer = await this.#patiently(() =>
        this.#client.send(new this.#sdk.BatchGetItemCommand({ RequestItems })),
      );
      for (const item of answer.Responses?.[this.table] ?? []) items.push(fromAttributes(item));
      rest = answer.UnprocessedKeys?.[this.table]?.Keys ?? [];
    }
    return items;
  }

  /** One page. Of the table it is what is there now; an index may be late. */
  async query({ index, where, filter, limit, backwards, after, only }: Query): Promise<Found> {
    const words = new Words();
    const input = {
      TableName: this.table,
      KeyConditionExpression: where(words),
      ...(filter && { FilterExpression: filter(words) }),
      ...(only && { ProjectionExpression: only.map((name) => words.name(name)).join(', ') }),
      ...words.used(),
      ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
      ...(limit !== undefined && { Limit: limit }),
      ...(backwards && { ScanIndexForward: false }),
      ...(after && { ExclusiveStartKey: toAttributes(after) }),
    };
    const answer = await this.#patiently(() => this.#client.send(new this.#sdk.QueryCommand(input)));
    const items = (answer.Items ?? []).map(fromAttributes);
    return answer.LastEvaluatedKey ? { items, last: fromAttributes(answer.LastEvaluatedKey) } : { items };
  }

  /** Page after page, up to the given number. */
  async queryAll(query: Query, most = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const items: Item[] = [];
    let after = query.after;
    do {
      const page = await this.query({ ...query, ...(after && { after }) });
      items.push(...page.items);
      after = page.last;
    } while (after && items.length < most);
    return items.slice(0, most);
  }

  /**
   * One conditional write. After a lost answer it is made again and then finds its own item in the way: callers that
   * mind recognise it by the mark that it carries, or write with `writeOnce`.
   */
  async write(write: Write): Promise<Written> {
    let mayBeDone = false;
    try {
      const item = await this.#patiently(
        () => this.#send(write),
        () => {
          mayBeDone = true;
        },
      );
      return item ? { ok: true, item } : { ok: true };
    } catch (reason) {
      const { name, Item } = reason as { name?: string; Item?: Record<string, AttributeValue> };
      if (name !== 'ConditionalCheckFailedException') throw tellTooLarge(reason);
      // What is not there any more was most likely removed by the try whose answer was lost.
      if (!Item && mayBeDone && 'delete' in write) return { ok: true };
      return { ok: false, old: Item && fromAttributes(Item) };
    }
  }

  /** The same for items that others replace as a whole: they carry who wrote them. */
  async tryOnce(write: Write): Promise<Written> {
    const w = randomBytes(6).toString('base64url');
    const written = await this.write(signed(write, w));
    return !written.ok && written.old?.['w'] === w ? { ok: true, item: written.old } : written;
  }

  /** Answers whether it went in. */
  async writeOnce(write: Write): Promise<boolean> {
    return (await this.tryOnce(write)).ok;
  }

  async #send(write: Write): Promise<Item | undefined> {
    const { Put, Update, Delete, ConditionCheck } = encodeWrite(this.table, write);
    if (Put) await this.#client.send(new this.#sdk.PutItemCommand(Put));
    if (Delete) await this.#client.send(new this.#sdk.DeleteItemCommand(Delete));
    if (ConditionCheck) throw new Error('A check makes sense only beside other writes.');
    if (!Update) return undefined;
    const answer = await this.#client.send(new this.#sdk.UpdateItemCommand({ ...Update, ReturnValues: 'ALL_NEW' }));
    return answer.Attributes && fromAttributes(answer.Attributes);
  }

  /**
   * Counts up and answers the item. Counting twice after a lost answer would be wrong, so the item remembers who counted
   * last; only if another one counts in between, the same count may go in twice.
   */
  async count(key: Key, add: Record<string, number>, set: Item = {}): Promise<Item> {
    const w = randomBytes(6).toString('base64url');
    const written = await this.write({ update: key, change: { add, set: { ...set, w } }, if: differs('w', w) });
    return (written.ok ? written.item : written.old)!;
  }

  /** All or nothing. A transaction costs twice, so one write goes alone. Answers whether it went in. */
  async transact(writes: readonly Write[]): Promise<boolean> {
    if (writes.length === 0) return true;
    if (writes.length === 1) return this.writeOnce(writes[0]!);
    const TransactItems = writes.map((write) => encodeWrite(this.table, write));
    // The same token for every try: after a lost answer DynamoDB knows that it was done.
    const input = { TransactItems, ClientRequestToken: randomUUID() };
    try {
      await this.#patiently(() => this.#client.send(new this.#sdk.TransactWriteItemsCommand(input)));
      return true;
    } catch (reason) {
      if (isRefused(reason)) return false;
      throw tellTooLarge(reason);
    }
  }

  /** One try without patience: whoever asks wants to know how it is now. */
  async ping(): Promise<void> {
    const Key = toAttributes({ pk: 'PING', sk: 'PING' });
    await this.#client.send(new this.#sdk.GetItemCommand({ TableName: this.table, Key }));
  }
}

const leftUndone = (): WaybillError =>
  new WaybillError('resource_exhausted', 'DynamoDB left reads undone again and again: it is overloaded.', {
    hint: 'Spread the load over more shards, or raise the capacity of the table and its indexes.',
  });

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

function signed(write: Write, w: string): Write {
  if ('put' in write) return { ...write, put: { ...write.put, w } };
  if ('update' in write) return { ...write, change: { ...write.change, set: { ...write.change.set, w } } };
  return write;
}

function isRefused(reason: unknown): boolean {
  const { name, CancellationReasons = [] } = reason as { name?: string; CancellationReasons?: { Code?: string }[] };
  if (name !== 'TransactionCanceledException') return false;
  return CancellationReasons.some(({ Code }) => Code === 'ConditionalCheckFailed');
}

function tellTooLarge(reason: unknown): unknown {
  const {
    name,
    message = '',
    CancellationReasons = [],
  } = reason as {
    name?: string;
    message?: string;
    CancellationReasons?: { Code?: string; Message?: string }[];
  };
  const told = CancellationReasons.filter(({ Code }) => Code === 'ValidationError').map(({ Message = '' }) => Message);
  if (name === 'ValidationException') told.push(message);
  if (!told.some((one) => /size/i.test(one))) return reason;
  return new WaybillError('payload_too_large', 'DynamoDB keeps at most 400 KB in one item.', {
    cause: reason,
    hint: 'Name a place for large payloads: blobs in the options, --blobs or WAYBILL_BLOBS.',
  });
}

/** Does `work` for each, a bounded number at once; answers in order. */
export async function inParallel<T, R>(list: readonly T[], work: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const answers = new Array<R>(list.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < list.length; index = next++) answers[index] = await work(list[index]!, index);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, list.length) }, worker));
  return answers;
}
