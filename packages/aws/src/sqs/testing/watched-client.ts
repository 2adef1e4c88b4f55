import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { Client } from '../sdk.ts';
import type { LocalSqs } from './bench.ts';

const LOOK_EVERY_MS = 1_000;
/** Turns of the event loop without a request, after which all is at rest. */
const QUIET_TURNS = 5;

export interface WatchedClient {
  client: Client;
  /** For how many seconds SQS was asked to hide a message, by each receive that does not wait, and by each extension. */
  hidden: { receives: number[]; extensions: number[] };
  /** How many messages SQS has given out. */
  readonly delivered: number;
  /** Called with each answer that has messages, before it is answered. */
  onMessages: () => Promise<void>;
  /** Lets time pass second by second, each until no request is under way. */
  pass(ms: number): Promise<void>;
}

/** The client of a test, whose receives do not wait: an emulator finds at once whatever a queue has. */
export const withoutWaits = ({ client }: LocalSqs): Client => {
  const send = (...[command, options]: Parameters<Client['send']>) =>
    command instanceof ReceiveMessageCommand
      ? client.send(new ReceiveMessageCommand({ ...command.input, WaitTimeSeconds: 0 }), options)
      : client.send(command, options);
  return { send } as Client;
};

/** The client of a test, with a record of what is asked of it. Its long polls wait in the time of the test. */
export function watched({ client, clock, advance }: LocalSqs): WatchedClient {
  const hidden: WatchedClient['hidden'] = { receives: [], extensions: [] };
  let delivered = 0;
  let underWay = 0;

  async function tracked<T>(work: () => Promise<T>): Promise<T> {
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  }

  async function receive({ input }: ReceiveMessageCommand, signal: AbortSignal | undefined) {
    const until = clock.monotonic() + 1_000 * (input.WaitTimeSeconds ?? 0);
    hidden.receives.push(input.VisibilityTimeout!);
    for (;;) {
      const answer = await tracked(() => client.send(new ReceiveMessageCommand({ ...input, WaitTimeSeconds: 0 })));
      const count = answer.Messages?.length ?? 0;
      delivered += count;
      if (count > 0) await parts.onMessages();
      if (count > 0 || signal?.aborted || clock.monotonic() >= until) return answer;
      await clock.sleep(Math.min(LOOK_EVERY_MS, until - clock.monotonic()), signal);
    }
  }

  const send = async (...[command, options]: Parameters<Client['send']>) => {
    if (command instanceof ReceiveMessageCommand) {
      return receive(command, options?.abortSignal as AbortSignal | undefined);
    }
    const { Entries = [] } = command.input as { Entries?: { VisibilityTimeout?: number }[] };
    for (const { VisibilityTimeout } of Entries) {
      if (VisibilityTimeout !== undefined) hidden.extensions.push(VisibilityTimeout);
    }
    return tracked(() => client.send(command, options));
  };

  async function rest(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (underWay > 0) quiet = 0;
    }
  }

  const parts: WatchedClient = {
    ...{ client: { send } as Client, hidden, onMessages: async () => {} },
    get delivered() {
      return delivered;
    },
    pass: async (ms) => {
      for (let left = ms; left > 0; left -= LOOK_EVERY_MS) {
        await advance(Math.min(LOOK_EVERY_MS, left));
        await rest();
      }
    },
  };
  return parts;
}
