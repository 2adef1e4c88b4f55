import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MessagesBody, RecordedRequest } from './recorded-request.ts';
import { type Script, ScriptReader } from './script.ts';
import { errorBody, eventsOf, wholeOf } from './turn-stream.ts';

export interface FakeModelOptions {
  /** A list of turns, or a function that chooses the turn by the request. */
  turns: Script;
  /** Whether answers come as a stream. Some gateways have none: Claude Code is refused, and asks again for a whole answer. @defaultValue true */
  streams?: boolean;
}

/** A Messages API on loopback that answers by a script. */
export interface FakeModel {
  readonly url: string;
  /** Give these to the worker, or to `env` of an agent task, and its agents ask this model. */
  readonly env: Readonly<{ ANTHROPIC_BASE_URL: string; ANTHROPIC_API_KEY: string }>;
  /** Every request for an answer, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Method and path of what was asked for besides answers. */
  readonly unexpected: readonly string[];
  /** Why requests got no answer. A test that ends with an entry here has a script that is too short. */
  readonly problems: readonly string[];
  /** How many turns of the list have not been used. */
  readonly left: number;
  /** Resolves with the request of this number, from 1, when it has come. */
  received(number: number, options?: { timeoutMs?: number }): Promise<RecordedRequest>;
  /** Ends every answer that hangs, and closes the port. */
  close(): Promise<void>;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const KEY = 'sk-ant-fake-model';
const LARGEST_BODY = 64 * 1_024 * 1_024;
const PATIENCE_MS = 60_000;
const SECRET_HEADERS = new Set(['x-api-key', 'authorization', 'cookie', 'proxy-authorization']);

/** Starts a model for tests: no key, no network, and the same answers every time. */
export async function fakeModel({ turns, streams = true }: FakeModelOptions): Promise<FakeModel> {
  const model = new Model(new ScriptReader(turns), streams);
  await model.listen();
  return model;
}

class Model implements FakeModel {
  readonly requests: RecordedRequest[] = [];
  readonly unexpected: string[] = [];
  readonly problems: string[] = [];
  readonly #script: ScriptReader;
  readonly #streams: boolean;
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  url = '';

  constructor(script: ScriptReader, streams: boolean) {
    this.#script = script;
    this.#streams = streams;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error) => {
        this.problems.push(`A request could not be answered: ${error.message}`);
        response.destroy();
      });
    });
  }

  async listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    await promise;
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get env(): FakeModel['env'] {
    return { ANTHROPIC_BASE_URL: this.url, ANTHROPIC_API_KEY: KEY };
  }

  get left(): number {
    return this.#script.left;
  }

  async received(number: number, { timeoutMs = PATIENCE_MS } = {}): Promise<RecordedRequest> {
    const { promise, resolve, reject } = Promise.withResolvers<RecordedRequest>();
    const look = (): void => {
      const request = this.requests[number - 1];
      if (request !== undefined) resolve(request);
    };
    const timer = setTimeout(() => {
      const got = this.requests.length;
      reject(new Error(`fakeModel() got ${got} requests within ${timeoutMs} ms, and ${number} were waited for.`));
    }, timeoutMs);
    this.#waiting.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (incoming.url ?? '').split('?')[0];
    if (incoming.method !== 'POST' || path !== '/v1/messages') {
      this.unexpected.push(`${incoming.method} ${path}`);
      incoming.resume();
      return refuse(response, 404, `fakeModel() answers POST /v1/messages only, not ${incoming.method} ${path}.`);
    }
    const body = await bodyOf(incoming);
    if (!this.#streams && body['stream'] === true) return refuse(response, 404, 'This fakeModel() has no streams.');
    const request = new RecordedRequest(this.requests.length + 1, body, headersOf(incoming));
    this.requests.push(request);
    const turn = this.#script.turnFor(request);
    for (const look of [...this.#waiting]) look();
    if (typeof turn === 'string') {
      this.problems.push(turn);
      return refuse(response, 400, turn);
    }
    const { failure, breaks, blocks, heldBy } = turn.fields;
    if (heldBy !== null) await heldBy;
    if (failure !== null) {
      if (failure.retryAfter !== undefined) response.setHeader('retry-after', String(failure.retryAfter));
      return refuse(response, failure.status, failure.message, failure.type);
    }
    if (breaks === 'hang' && blocks.length === 0) return;
    if (body['stream'] !== true)
      return void response.writeHead(200, JSON_TYPE).end(wholeOf(turn, request.number, request.model));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_fake_${request.number}` });
    const text = eventsOf(turn, request.number, request.model).join('');
    if (breaks === null) response.end(text);
    else if (breaks === 'hang') response.write(text);
    else response.write(text, () => response.destroy());
  }
}

function refuse(response: ServerResponse, status: number, message?: string, type?: string): void {
  response.writeHead(status, JSON_TYPE).end(errorBody(status, message, type));
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !SECRET_HEADERS.has(name))
      .map(([name, value]) => [name, String(value)]),
  );

async function bodyOf(incoming: IncomingMessage): Promise<MessagesBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > LARGEST_BODY) throw new Error(`The body has more than ${LARGEST_BODY} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
