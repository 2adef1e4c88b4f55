import { invalidField } from '@waybill/core';
import type { SqsOptions } from './settings.ts';

/** Reads `sqs://REGION/PREFIX?endpoint=..`; both region and prefix may be left out. */
export function sqsOptionsOf(address: string): SqsOptions {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== 'sqs:') throw invalidField('transport', 'must be like sqs://REGION/PREFIX?endpoint=..');
  for (const name of url.searchParams.keys()) {
    if (name !== 'endpoint') throw invalidField('transport', `has '${name}', which SQS does not know; only endpoint`);
  }
  const endpoint = url.searchParams.get('endpoint');
  const prefix = url.pathname.replace(/^\//, '');
  return {
    ...(url.hostname !== '' && { region: url.hostname }),
    ...(prefix !== '' && { prefix }),
    ...(endpoint !== null && { endpoint }),
  };
}
