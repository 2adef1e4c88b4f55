import type { Server, ServerOptions } from 'node:http';
import { WaybillError } from '@waybill/core';

/** What one client may cost the server. Every limit has a default that ordinary clients never meet. */
export interface ConnectionLimits {
  /** How long a client may take to send the head of a request, counted from its connection. @defaultValue 15_000 */
  headersTimeoutMs?: number;
  /** How long a client may take to send a whole request. @defaultValue 120_000 */
  requestTimeoutMs?: number;
  /**
   * How long a connection may carry nothing in either direction while a request is under way, such as a client that
   * reads nothing of its answer. Longer than a long poll and than the pause between two signs of life of a stream.
   * @defaultValue 120_000
   */
  stalledTimeoutMs?: number;
  /** The longest head of a request, all headers together. @defaultValue 16_384 */
  maxHeaderBytes?: number;
  /**
   * Connections at the same time. A new one beyond them ends the one that has been idle for longest; while all of them
   * have a request under way, it is answered with 503.
   * @defaultValue 10_000
   */
  maxConnections?: number;
  /** Requests that one connection may have under way at once (pipelining); more are answered with 429. @defaultValue 64 */
  maxPipelined?: number;
}

const DEFAULTS: Required<ConnectionLimits> = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 120_000,
  stalledTimeoutMs: 120_000,
  maxHeaderBytes: 16_384,
  maxConnections: 10_000,
  maxPipelined: 64,
};

/** Node looks for late requests by a timer; the more often, the closer to the limit they are refused. */
const LONGEST_CHECK_MS = 1_000;

/** Fills in the defaults, and refuses a limit that would let nobody in or everything through. */
export function limitsOf(given: ConnectionLimits): Required<ConnectionLimits> {
  const limits = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof ConnectionLimits)[]) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 1) {
      const message = `The option '${name}' must be a whole number from 1 on, not ${String(value)}.`;
      throw new WaybillError('invalid_request', message, { details: { field: name } });
    }
    limits[name] = value;
  }
  return limits;
}

/** The limits that Node enforces by itself. */
export function serverOptionsOf(limits: Required<ConnectionLimits>): ServerOptions {
  const { headersTimeoutMs, requestTimeoutMs, maxHeaderBytes } = limits;
  const shortest = Math.min(headersTimeoutMs, requestTimeoutMs);
  return {
    // Node refuses a head that may take longer than the whole.
    headersTimeout: shortest,
    requestTimeout: requestTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    connectionsCheckingInterval: Math.min(LONGEST_CHECK_MS, Math.ceil(shortest / 4)),
  };
}

/** A connection without any traffic for so long is closed. Idle ones are closed much earlier, by the keep-alive timeout. */
export function endStalled(server: Server, { stalledTimeoutMs }: Required<ConnectionLimits>): void {
  server.setTimeout(stalledTimeoutMs);
}
