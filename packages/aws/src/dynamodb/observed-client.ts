import { kindOf } from './failures.ts';
import type { Client } from './sdk.ts';

/** Told of every request to DynamoDB, tries and repetitions alike, by the name of its operation: `PutItem`, `Query`, .. */
export interface DynamoObserver {
  operation?(name: string): void;
  throttled?(name: string): void;
  /** DynamoDB has left a part of a batch undone, and the store sends it again. */
  batchRetried?(name: string): void;
}

/** The client, with an observer beside it. What the observer throws changes nothing. */
export function observedClient(client: Client, observer: DynamoObserver): Client {
  const tell = (work: () => void): void => {
    try {
      work();
    } catch {
      // Metrics are no part of a request.
    }
  };
  const send = async (command: object, ...rest: unknown[]): Promise<unknown> => {
    const name = command.constructor.name.replace(/Command$/, '');
    tell(() => observer.operation?.(name));
    try {
      const answer = await (client.send as (...given: unknown[]) => Promise<unknown>).call(client, command, ...rest);
      if (isUndone(answer)) tell(() => observer.batchRetried?.(name));
      return answer;
    } catch (error) {
      if (kindOf(error) === 'throttled') tell(() => observer.throttled?.(name));
      throw error;
    }
  };
  return { send } as unknown as Client;
}

function isUndone(answer: unknown): boolean {
  const { UnprocessedKeys = {}, UnprocessedItems = {} } = (answer ?? {}) as {
    UnprocessedKeys?: object;
    UnprocessedItems?: object;
  };
  return Object.keys(UnprocessedKeys).length + Object.keys(UnprocessedItems).length > 0;
}
