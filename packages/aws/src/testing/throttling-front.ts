import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A refusal as DynamoDB words it, or `unprocessed`: it answers a batch of reads, and has done none of them. */
export interface Refusal {
  type: string;
  CancellationReasons?: readonly { Code: string }[];
}

export interface ThrottlingFront {
  readonly endpoint: string;
  /** Operations by name, such as `TransactWriteItems`, and the refusals that each gets, one for each request. */
  refusals: Record<string, Refusal[] | (() => Refusal)>;
  /** Requests so far, by the name of their operation. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** DynamoDB Local as it would be under load, over a socket of its own: it never throttles by itself. */
export async function throttlingFront(target: string): Promise<ThrottlingFront> {
  const server = createServer((asked, answer) => {
    const operation = String(asked.headers['x-amz-target']).split('.').at(-1)!;
    front.asked.push(operation);
    const planned = front.refusals[operation];
    const refusal = typeof planned === 'function' ? planned() : planned?.shift();
    if (refusal) {
      void refuse(asked, answer, refusal);
      return;
    }
    const { method, url, headers } = asked;
    const passed = request(new URL(url ?? '/', target), { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front: ThrottlingFront = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusals: {},
    asked: [],
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return front;
}

async function refuse(asked: IncomingMessage, answer: ServerResponse, { type, ...rest }: Refusal): Promise<void> {
  const { RequestItems } = (await json(asked)) as { RequestItems?: object };
  const isUndone = type === 'unprocessed';
  const refused = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'Injected.', ...rest };
  const body = JSON.stringify(isUndone ? { Responses: {}, UnprocessedKeys: RequestItems } : refused);
  answer.writeHead(isUndone ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
}
