import { WaybillError } from '@waybill/core';

/** Nothing was heard of the service: the request may have taken effect or not. */
const SILENT = new Set([
  'TimeoutError',
  'RequestTimeout',
  'NetworkingError',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

interface Failure {
  name?: string;
  code?: string;
  endpoint?: string;
}

export function isSilence(error: unknown): boolean {
  const { name = '', code = '' } = error as Failure;
  // HPE_..: what came back is not HTTP.
  return SILENT.has(name) || SILENT.has(code) || code.startsWith('HPE_');
}

/** Where the request of a failed call went; undefined where a client of the caller's own made it. */
export const endpointOf = (error: unknown): string | undefined => (error as Failure).endpoint;

export const noAnswer = (service: string, cause: unknown, endpoint = endpointOf(cause)): WaybillError =>
  new WaybillError('unavailable', `${service}${endpoint === undefined ? '' : ` at ${endpoint}`} does not answer.`, {
    cause,
    hint: 'Check the network, the region and the endpoint. The call can be repeated.',
  });
