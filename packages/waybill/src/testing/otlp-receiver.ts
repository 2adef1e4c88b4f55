import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

type Attributes = Record<string, unknown>;

export interface ReceivedSpan {
  /** `service.name` of the process that sent it. */
  service: string;
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty: the root of its trace. */
  parentSpanId: string;
  attributes: Attributes;
  links: { traceId: string; spanId: string }[];
  resource: Attributes;
}

export interface ReceivedMetric {
  service: string;
  name: string;
  unit: string;
  points: { attributes: Attributes }[];
}

interface Value {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string | number;
  doubleValue?: number;
  arrayValue?: { values?: Value[] };
}

interface Pair {
  key: string;
  value: Value;
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of OTLP, as the exporters write it.
type Otlp = any;

const BYTE_EVERY_MS = 100;

function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const timer = setInterval(() => response.write(' '), BYTE_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

/** A collector on loopback: takes OTLP over HTTP in JSON, as the exporters send it, and keeps it. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: ReceivedMetric[] = [];
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  readonly #server: Server;
  readonly #changed = new EventTarget();
  /** Of where it listens, or has listened. */
  url = '';
  /** What requests are answered with; undefined: not at all. */
  status: number | undefined = 200;
  /** Whether answers begin and never end, a byte every so often. */
  isTrickling = false;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#take(request).then(() => {
        if (this.status === undefined) return;
        if (this.isTrickling) return trickle(response);
        response.writeHead(this.status, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(port = 0): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(port, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(receiver.#server.address() as AddressInfo).port}`;
    return receiver;
  }

  /** Resolves with what `find` answers, as soon as that is something. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        this.#changed.removeEventListener('changed', look);
        resolve(found);
      };
      this.#changed.addEventListener('changed', look);
      look();
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    this.requests.push({ path: request.url ?? '', headers: request.headers });
    if (this.status === 200) this.#keep(JSON.parse(String(body)) as Otlp);
    this.#changed.dispatchEvent(new Event('changed'));
  }

  #keep({ resourceSpans = [], resourceMetrics = [] }: Otlp): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const own = attributesOf(resource.attributes);
      const service = String(own['service.name']);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span: Otlp) => spanOf(span, service, own)));
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const service = String(attributesOf(resource.attributes)['service.name']);
      for (const { metrics } of scopeMetrics) {
        for (const { name, unit, sum, gauge, histogram } of metrics) {
          const points = (sum ?? gauge ?? histogram).dataPoints as { attributes: Pair[] }[];
          const read = points.map(({ attributes }) => ({ attributes: attributesOf(attributes) }));
          this.metrics.push({ service, name, unit, points: read });
        }
      }
    }
  }
}

const spanOf = (span: Otlp, service: string, resource: Attributes): ReceivedSpan => ({
  ...{ service, resource, name: span.name, kind: span.kind, traceId: span.traceId, spanId: span.spanId },
  parentSpanId: span.parentSpanId ?? '',
  attributes: attributesOf(span.attributes),
  links: (span.links ?? []).map(({ traceId, spanId }: ReceivedSpan) => ({ traceId, spanId })),
});

const attributesOf = (pairs: readonly Pair[] = []): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plainOf(value)]));

function plainOf({ stringValue, boolValue, intValue, doubleValue, arrayValue }: Value): unknown {
  if (arrayValue) return (arrayValue.values ?? []).map(plainOf);
  return stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue));
}
