import type { Server, ServerOptions } from 'node:http';
import type { ServerOptions as TlsServerOptions } from 'node:https';
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

/**
 * How long an idle connection is kept: longer than proxies and load balancers keep theirs, mostly 60 seconds. One that the
 * server closes first may be in use again by then, and its request fails.
 */
const KEEP_ALIVE_MS = 75_000;

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
  const { headersTimeoutMs, requestTimeoutMs, stalledTimeoutMs, maxHeaderBytes } = limits;
  const shortest = Math.min(headersTimeoutMs, requestTimeoutMs);
  return {
    // Node refuses a head that may take longer than the whole.
    headersTimeout: shortest,
    requestTimeout: requestTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: Math.min(KEEP_ALIVE_MS, stalledTimeoutMs),
    connectionsCheckingInterval: Math.min(LONGEST_CHECK_MS, Math.ceil(shortest / 4)),
  };
}

/** TLS 1.2 with forward secrecy and authenticated encryption only; HTTP/2 forbids the other suites. */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

export const OLDEST_TLS = { minVersion: 'TLSv1.2', ciphers: CIPHERS } as const;

/** A client that is slow to agree on a key costs as much as one that is slow to send its head. */
export const tlsOptionsOf = ({ headersTimeoutMs }: Required<ConnectionLimits>): TlsServerOptions => ({
  ...{ handshakeTimeout: headersTimeoutMs, ...OLDEST_TLS },
});

/** A connection without any traffic for so long is closed. Idle ones are closed earlier, by the keep-alive timeout. */
export function endStalled(server: Server, { stalledTimeoutMs }: Required<ConnectionLimits>): void {
  server.setTimeout(stalledTimeoutMs);
}
