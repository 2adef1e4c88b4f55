import { type Clock, didYouMean, type Logger, type Transport, WaybillError } from '@waybill/core';
import type { AwsParts } from './aws-parts.ts';
import { shownAddress } from './shown-address.ts';

interface OpenOptions {
  /** The store's, so that both mean the same time. */
  clock: Clock;
  logger?: Logger;
}

/** Opens a transport whose address was read before; undefined: the store itself is the transport. */
export type OpenTransport = (options: OpenOptions) => Promise<Transport | undefined>;

/** Checks what carries the hints, `poll` or `sqs://..`, and answers how to open it. Loaded only when named. */
export async function readTransport(address: unknown, sqs: AwsParts['sqs'] = {}): Promise<OpenTransport> {
  if (address === 'poll') return async () => undefined;
  if (typeof address === 'string' && /^sqs:/i.test(address)) {
    const { sqsOptionsOf, sqsTransport } = await import('@waybill/aws/sqs');
    const settings = { ...sqs, ...sqsOptionsOf(address) };
    return async ({ clock, logger }) => sqsTransport({ ...settings, clock, ...(logger && { logger }) });
  }
  throw unknownPlace('transport', address, ['poll', 'sqs'], 'Use poll, or an address like sqs://REGION/PREFIX.');
}

/** Shows of the address only what cannot be secret. */
export function unknownPlace(option: string, address: unknown, known: string[], hint: string): WaybillError {
  if (typeof address !== 'string') {
    return new WaybillError('invalid_request', `The option '${option}' must be a string.`, { hint });
  }
  const shown = shownAddress(address);
  const meant = didYouMean(address.split(':', 1)[0]!.toLowerCase(), known);
  return new WaybillError('invalid_request', `Unknown ${option}${shown && ` '${shown}'`}.${meant}`, { hint });
}
