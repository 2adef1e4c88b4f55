import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import type { Client } from '../dynamodb/sdk.ts';

export interface Use {
  requests: number;
  write: number;
  read: number;
}

interface Answer {
  ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
  Items?: unknown[];
  Responses?: Record<string, unknown[]>;
}

interface Input {
  ConsistentRead?: boolean;
  RequestItems?: Record<string, { Keys?: unknown[]; ConsistentRead?: boolean }>;
  TransactItems?: unknown[];
}

const READS = new Set(['GetItemCommand', 'BatchGetItemCommand', 'QueryCommand']);

/**
 * Counts requests and the capacity that they consume, indexes included. DynamoDB Local tells it as AWS bills it but for
 * a few cases, where the documented rules are applied: what is not there is read all the same, a condition that failed
 * is a write of at least one unit, and every item of a transaction is at least two.
 */
export class Meter implements Pick<Client, 'send'> {
  readonly #client: Client;
  #use: Use = { requests: 0, write: 0, read: 0 };

  constructor(client: Client) {
    this.#client = client;
  }

  readonly send = (async (command: { constructor: { name: string }; input: Input & Record<string, unknown> }) => {
    const { name } = command.constructor;
    command.input['ReturnConsumedCapacity'] = 'INDEXES';
    this.#use.requests += 1;
    try {
      const answer = (await this.#client.send(command as never)) as Answer;
      const told = [answer.ConsumedCapacity ?? []].flat();
      const units = told.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
      if (READS.has(name)) this.#use.read += units + untold(name, command.input, answer);
      else this.#use.write += Math.max(units, leastOf(command.input));
      return answer;
    } catch (error) {
      if ((error as Error).name === 'ConditionalCheckFailedException') this.#use.write += 1;
      if ((error as Error).name === 'TransactionCanceledException') this.#use.write += leastOf(command.input);
      throw error;
    }
  }) as Client['send'];

  /** What `work` costs, for each of so many jobs. */
  async per(jobs: number, work: () => Promise<unknown>): Promise<Use> {
    const before = { ...this.#use };
    await work();
    const { requests, write, read } = this.#use;
    return {
      requests: (requests - before.requests) / jobs,
      write: (write - before.write) / jobs,
      read: (read - before.read) / jobs,
    };
  }
}

const unitOf = (isStrong: boolean | undefined): number => (isStrong ? 1 : 0.5);

/** Reads of what is not there, which DynamoDB Local tells as free. */
function untold(name: string, { ConsistentRead, RequestItems = {} }: Input, { Items, Responses = {} }: Answer): number {
  if (name === 'QueryCommand') return Items?.length ? 0 : unitOf(ConsistentRead);
  return Object.entries(RequestItems).reduce((sum, [table, { Keys = [], ConsistentRead: isStrong }]) => {
    const missing = Keys.length - (Responses[table]?.length ?? 0);
    return sum + missing * unitOf(isStrong);
  }, 0);
}

const leastOf = ({ TransactItems = [] }: Input): number => 2 * TransactItems.length;
