import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import type { Client } from '../sdk.ts';

export interface Use {
  requests: number;
  write: number;
  read: number;
}

const READS = new Set(['GetItemCommand', 'BatchGetItemCommand', 'QueryCommand']);
/** A query that finds nothing is billed all the same; DynamoDB Local reports it as free. */
const LEAST_QUERY = 0.5;

/** Counts requests and the capacity that they consume, indexes included. */
export class Meter implements Pick<Client, 'send'> {
  readonly #client: Client;
  #use: Use = { requests: 0, write: 0, read: 0 };

  constructor(client: Client) {
    this.#client = client;
  }

  readonly send = (async (command: { constructor: { name: string }; input: Record<string, unknown> }) => {
    const { name } = command.constructor;
    command.input['ReturnConsumedCapacity'] = 'INDEXES';
    const answer = (await this.#client.send(command as never)) as {
      ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
    };
    const units = [answer.ConsumedCapacity ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    this.#use.requests += 1;
    if (name === 'QueryCommand') this.#use.read += Math.max(units, LEAST_QUERY);
    else if (READS.has(name)) this.#use.read += units;
    else this.#use.write += units;
    return answer;
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
