import { type Clock, didYouMean, type Logger, type Transport, WaybillError } from '@waybill/core';

import { withoutSecrets } from './address.ts';

interface OpenOptions {
  /** The store's, so that both mean the same time. */
  clock: Clock;
  logger?: Logger;
}

/** Opens what carries the hints: `poll`, which is the store itself, or `sqs://..`. Loaded only when named. */
export async function openTransport(address: string, { clock, logger }: OpenOptions): Promise<Transport | undefined> {
  if (address === 'poll') return undefined;
  if (address.startsWith('sqs:')) {
    const { sqsOptionsOf, sqsTransport } = await import('@waybill/aws/sqs');
    return sqsTransport({ ...sqsOptionsOf(address), clock, ...(logger && { logger }) });
  }
  throw new WaybillError(
    'invalid_request',
    `Unknown transport '${withoutSecrets(String(address))}'.${didYouMean(String(address).split(':', 1)[0]!, ['poll', 'sqs'])}`,
    {
      hint: 'Use poll, or an address like sqs://REGION/PREFIX.',
    },
  );
}
