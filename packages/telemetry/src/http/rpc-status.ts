import type { Attributes } from '@opentelemetry/api';
import type { ObservedRpc } from './request-observer.ts';

/** The codes of gRPC by their numbers. */
const CODES: readonly string[] = [
  ...['OK', 'CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
  ...['INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

/** Those that the semantic conventions count as failures of the server; the others are answers to what a caller asked. */
const FAULTS: ReadonlySet<string> = new Set([
  ...['UNKNOWN', 'DEADLINE_EXCEEDED', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
]);

export const isFault = (code: string): boolean => FAULTS.has(code);

/**
 * By the semantic conventions of RPC. `rpc.response.status_code` is the newest name for the status; most tools still read
 * `rpc.grpc.status_code`, which is a number, and `rpc.connect_rpc.error_code`, which only errors have.
 */
export function attributesOf({ system, service, method }: ObservedRpc, code: string): Attributes {
  const number = CODES.indexOf(code);
  return {
    'rpc.system': system,
    'rpc.service': service,
    'rpc.method': method,
    'rpc.response.status_code': code,
    ...(system === 'grpc' && number >= 0 && { 'rpc.grpc.status_code': number }),
    ...(system !== 'grpc' && code !== 'OK' && { 'rpc.connect_rpc.error_code': connectCode(code) }),
  };
}

/** The two protocols spell one of them in different ways. */
const connectCode = (code: string): string => (code === 'CANCELLED' ? 'canceled' : code.toLowerCase());
