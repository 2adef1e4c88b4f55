import { type Logger, WaybillError } from '@waybill/core';
import { type Env, pairsIn, textIn, unknownValue, wholeIn } from './variables.ts';

/** Where one kind of telemetry goes. */
export interface OtlpTarget {
  url: string;
  /** Scheme, host and port alone: paths and headers of an endpoint may hold its key. */
  shownUrl: string;
  headers: Readonly<Record<string, string>>;
  compression: 'gzip' | 'none';
  /** How long one export may take with all its repetitions. */
  timeoutMs: number;
}

export type Signal = 'TRACES' | 'METRICS';

/** Below the five seconds that a shutdown may take, so that no export outlives its process's will to end. */
const MOST_TIMEOUT_MS = 4_500;

const PROTOCOLS = ['http/json', 'http/protobuf'] as const;
const COMPRESSIONS = ['gzip', 'none'] as const;

/** Null without an endpoint. Variables of the signal beat those of all signals, as the standard wants it. */
export function otlpTarget(env: Env, signal: Signal, logger: Pick<Logger, 'warn'>): OtlpTarget | null {
  const own = (name: string) => `OTEL_EXPORTER_OTLP_${signal}_${name}`;
  const named = (name: string) => (textIn(env, own(name)) === undefined ? `OTEL_EXPORTER_OTLP_${name}` : own(name));
  const name = named('ENDPOINT');
  const endpoint = textIn(env, name);
  if (endpoint === undefined) return null;
  const url = urlOf(name, endpoint);
  // An endpoint of all signals is a base; one of a single signal is taken as it stands.
  if (name !== own('ENDPOINT')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal.toLowerCase()}`;
  checkProtocol(env, named('PROTOCOL'), logger);
  const compression = textIn(env, named('COMPRESSION')) ?? 'none';
  const known = COMPRESSIONS.find((one) => one === compression);
  if (known === undefined) throw unknownValue(named('COMPRESSION'), compression, COMPRESSIONS);
  return {
    url: String(url),
    shownUrl: url.origin,
    headers: {
      ...pairsIn('OTEL_EXPORTER_OTLP_HEADERS', textIn(env, 'OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
      ...pairsIn(own('HEADERS'), textIn(env, own('HEADERS')) ?? ''),
    },
    compression: known,
    timeoutMs: Math.min(wholeIn(env, named('TIMEOUT'), MOST_TIMEOUT_MS), MOST_TIMEOUT_MS),
  };
}

/** The value itself is not shown, since it may have a key in it. */
function urlOf(name: string, text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new WaybillError('invalid_request', `${name} is not an address of HTTP.`, {
    hint: 'Use the address of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318.',
  });
}

function checkProtocol(env: Env, name: string, logger: Pick<Logger, 'warn'>): void {
  const protocol = textIn(env, name) ?? 'http/json';
  if (protocol === 'grpc') {
    throw new WaybillError('unsupported', `${name} is grpc, and Waybill sends OTLP over HTTP only.`, {
      hint: 'Set it to http/json, and the endpoint to the HTTP port of the collector, which is most often 4318.',
    });
  }
  if (!PROTOCOLS.some((one) => one === protocol)) throw unknownValue(name, protocol, PROTOCOLS);
  if (protocol === 'http/json') return;
  // A receiver of OTLP/HTTP takes both, so this is no reason not to start.
  logger.warn({ variable: name }, 'Telemetry is sent as http/json instead of http/protobuf, to the same address.');
}
