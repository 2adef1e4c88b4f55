import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fits } from './event-pattern.ts';

/** An event as rules see it and targets get it. */
export interface BusEvent {
  version: '0';
  id: string;
  'detail-type': string;
  source: string;
  account: string;
  time: string;
  region: string;
  resources: string[];
  detail: unknown;
}

interface Rule {
  pattern: unknown;
  isOn: boolean;
  targets: Map<string, string>;
}

type Call = Record<string, unknown>;

export interface LocalEventBus {
  endpoint: string;
  /** What was put, newest last, of all buses. */
  readonly events: readonly BusEvent[];
  stop(): Promise<void>;
}

export interface EventBusOptions {
  host: string;
  port: number;
  region: string;
  /** Brings an event to a target; the only targets are SQS queues. */
  deliver(arn: string, event: BusEvent): void;
}

export const ACCOUNT = '000000000000';
const MOST_KEPT = 10_000;

/**
 * A stand-in for EventBridge: PutEvents, rules with patterns, SQS queues as targets, spoken to as the SDK does. It keeps
 * all in memory and knows no permissions, and no limits but those of one request.
 */
export async function startEventBus(options: EventBusOptions): Promise<LocalEventBus> {
  const bus = new EventBus(options);
  const server = createServer((request, response) => {
    const answer = readBody(request).then((body) => bus.call(targetOf(request), body));
    answer.then(
      (value) => reply(200, value),
      (error: unknown) => reply(400, { __type: 'ValidationException', message: String(error) }),
    );
    const reply = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(value));
    };
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://${options.host}:${port}`, events: bus.events, stop: () => stop(server) };
}

class EventBus {
  readonly events: BusEvent[] = [];
  readonly #options: EventBusOptions;
  /** By bus and name. */
  readonly #rules = new Map<string, Rule>();

  constructor(options: EventBusOptions) {
    this.#options = options;
  }

  call(operation: string, call: Call): unknown {
    switch (operation) {
      case 'PutEvents':
        checkEntries(list(call['Entries']));
        return { FailedEntryCount: 0, Entries: list(call['Entries']).map((entry) => ({ EventId: this.#put(entry) })) };
      case 'PutRule':
        return this.#putRule(call);
      case 'DeleteRule':
        this.#rules.delete(keyOf(call, 'Name'));
        return {};
      case 'ListRules':
        return { Rules: this.#namesOf(busOf(call)).map((Name) => ({ Name, Arn: this.#arn(`rule/${Name}`) })) };
      case 'PutTargets':
        for (const { Id, Arn } of list(call['Targets'])) this.#rule(call).targets.set(String(Id), String(Arn));
        return { FailedEntryCount: 0, FailedEntries: [] };
      case 'RemoveTargets':
        for (const id of call['Ids'] as string[]) this.#rule(call).targets.delete(id);
        return { FailedEntryCount: 0, FailedEntries: [] };
      case 'CreateEventBus':
        return { EventBusArn: this.#arn(`event-bus/${call['Name']}`) };
      case 'DescribeEventBus':
        return { Name: call['Name'] ?? 'default', Arn: this.#arn(`event-bus/${call['Name'] ?? 'default'}`) };
      default:
        throw new Error(`The local EventBridge has no ${operation}.`);
    }
  }

  #put(entry: Call): string {
    const event: BusEvent = {
      version: '0',
      id: randomUUID(),
      'detail-type': String(entry['DetailType'] ?? ''),
      source: String(entry['Source'] ?? ''),
      account: ACCOUNT,
      time: timeOf(entry['Time']),
      region: this.#options.region,
      resources: (entry['Resources'] as string[] | undefined) ?? [],
      detail: JSON.parse(String(entry['Detail'] ?? '{}')),
    };
    this.events.push(event);
    if (this.events.length > MOST_KEPT) this.events.shift();
    for (const [key, { isOn, pattern, targets }] of this.#rules) {
      if (!isOn || !key.startsWith(`${busOf(entry)}\n`) || !fits(pattern, event)) continue;
      for (const arn of targets.values()) this.#options.deliver(arn, event);
    }
    return event.id;
  }

  #putRule(call: Call): unknown {
    const pattern: unknown = JSON.parse(String(call['EventPattern'] ?? '{}'));
    const targets = this.#rules.get(keyOf(call, 'Name'))?.targets ?? new Map<string, string>();
    this.#rules.set(keyOf(call, 'Name'), { pattern, isOn: call['State'] !== 'DISABLED', targets });
    return { RuleArn: this.#arn(`rule/${call['Name']}`) };
  }

  #rule(call: Call): Rule {
    const rule = this.#rules.get(keyOf(call, 'Rule'));
    if (!rule) throw new Error(`There is no rule ${call['Rule']}.`);
    return rule;
  }

  #namesOf(bus: string): string[] {
    return [...this.#rules.keys()].map((key) => key.split('\n')).flatMap(([of, name]) => (of === bus ? name! : []));
  }

  #arn(rest: string): string {
    return `arn:aws:events:${this.#options.region}:${ACCOUNT}:${rest}`;
  }
}

const MOST_ENTRIES = 10;
const MOST_BYTES = 256 * 1024;
const TIME_BYTES = 14;

/** As EventBridge counts them. */
function checkEntries(entries: readonly Call[]): void {
  const sizeOf = (entry: Call) =>
    ['Source', 'DetailType', 'Detail'].reduce(
      (sum, name) => sum + Buffer.byteLength(String(entry[name] ?? '')),
      TIME_BYTES,
    );
  if (entries.length > MOST_ENTRIES) throw new Error(`There are ${entries.length} entries, more than ${MOST_ENTRIES}.`);
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes > MOST_BYTES) throw new Error(`The entries have ${bytes} bytes, more than ${MOST_BYTES}.`);
}

const busOf = (call: Call): string => String(call['EventBusName'] ?? 'default');
const keyOf = (call: Call, field: 'Name' | 'Rule'): string => `${busOf(call)}\n${String(call[field])}`;
const list = (value: unknown): Call[] => (Array.isArray(value) ? (value as Call[]) : []);
const targetOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target'] ?? '')
    .split('.')
    .at(-1)!;
/** On the wire a time is a number of seconds. */
const timeOf = (value: unknown): string =>
  new Date(typeof value === 'number' ? value * 1000 : Date.now()).toISOString();

async function readBody(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as Call;
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
