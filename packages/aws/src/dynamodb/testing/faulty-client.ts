import type { Client } from '../sdk.ts';

/** One request as it passes by. */
interface Request {
  name: string;
  input: Record<string, unknown>;
}

/** What DynamoDB Local never does and AWS does, and what becomes of a process that dies. */
export interface Faults {
  /** The process dies when this many requests have been made: the last one is done, its answer never comes. */
  crashAfter?: number;
  /** The request is done, but the answer is lost: every so many requests. */
  loseEvery?: number;
  /** The request meets another one and is refused: every so many writes. */
  conflictEvery?: number;
  /** As many requests are refused because of the load. */
  throttle?: number;
  /** An index answers each query with nothing so many times, and then with an old answer so many times each. */
  indexLate?: number;
}

const WRITES = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand', 'TransactWriteItemsCommand']);

const failure = (name: string, more: object = {}): Error =>
  Object.assign(new Error(`injected: ${name}`), { name, ...more });

/** Stands between a store and its client. */
export class FaultyClient implements Pick<Client, 'send'> {
  readonly #client: Client;
  readonly requests: string[] = [];
  readonly tables = new Set<string>();
  faults: Faults;
  #dead = false;
  #writes = 0;
  readonly #late = new Map<string, { asked: number; answer: unknown }>();

  constructor(client: Client, faults: Faults = {}) {
    this.#client = client;
    this.faults = faults;
  }

  readonly send = (async (command: { constructor: { name: string }; input: Record<string, unknown> }) => {
    const request = { name: command.constructor.name, input: command.input };
    if (this.#dead) throw failure('Crashed');
    this.requests.push(request.name);
    if (typeof request.input['TableName'] === 'string') this.tables.add(request.input['TableName']);
    this.#refuse(request);
    const answer = await this.#ask(request, () => this.#client.send(command as never));
    const count = this.requests.length;
    if (this.faults.crashAfter !== undefined && count >= this.faults.crashAfter) {
      this.#dead = true;
      throw failure('Crashed');
    }
    if (this.faults.loseEvery && count % this.faults.loseEvery === 0) throw failure('TimeoutError');
    return answer;
  }) as Client['send'];

  #refuse({ name, input }: Request): void {
    if (this.faults.throttle) {
      this.faults.throttle -= 1;
      throw failure('ProvisionedThroughputExceededException');
    }
    if (!WRITES.has(name)) return;
    this.#writes += 1;
    if (!this.faults.conflictEvery || this.#writes % this.faults.conflictEvery !== 0) return;
    if (name !== 'TransactWriteItemsCommand') throw failure('TransactionConflictException');
    const items = input['TransactItems'] as unknown[];
    const CancellationReasons = items.map((_, index) => ({ Code: index === 0 ? 'TransactionConflict' : 'None' }));
    throw failure('TransactionCanceledException', { CancellationReasons });
  }

  async #ask({ name, input }: Request, ask: () => Promise<unknown>): Promise<unknown> {
    const times = this.faults.indexLate;
    if (!times || name !== 'QueryCommand' || input['IndexName'] === undefined) return ask();
    const query = JSON.stringify(input);
    const known = this.#late.get(query) ?? { asked: 0, answer: { Items: [], $metadata: {} } };
    this.#late.set(query, known);
    const isOld = known.asked % (times + 1) !== times;
    known.asked += 1;
    if (isOld) return known.answer;
    known.answer = await ask();
    return known.answer;
  }
}
