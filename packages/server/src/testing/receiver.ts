import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  event: any;
}

export interface Receiver {
  url: string;
  got: Received[];
  /** What it does with a request; answers 204 unless it is set. */
  answer: (response: ServerResponse, received: Received) => void;
  whenGot(count: number): Promise<void>;
}

/** A real receiver of webhooks on loopback, closed when the test ends. */
export async function receiver(): Promise<Receiver> {
  const got: Received[] = [];
  let watchers: { count: number; tell(): void }[] = [];
  const made: Receiver = {
    url: '',
    got,
    answer: (response) => response.writeHead(204).end(),
    whenGot: async (count) => {
      if (got.length < count) await new Promise<void>((tell) => watchers.push({ count, tell }));
    },
  };
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    const received = { path: request.url!, headers: request.headers, text, event: JSON.parse(text) };
    got.push(received);
    made.answer(response, received);
    const met = watchers.filter(({ count }) => got.length >= count);
    watchers = watchers.filter((watcher) => !met.includes(watcher));
    for (const { tell } of met) tell();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return made;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
