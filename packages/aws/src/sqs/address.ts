import { didYouMean, invalidField } from '@waybill/core';
import type { SqsOptions } from './settings.ts';

/** Reads `sqs://REGION/PREFIX?endpoint=..`; both region and prefix may be left out. */
export function sqsOptionsOf(address: string): SqsOptions {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== 'sqs:') throw invalidField('transport', 'must be an address like sqs://eu-west-1/waybill.');
  for (const name of url.searchParams.keys()) {
    if (name === 'endpoint') continue;
    const meant = didYouMean(name, ['endpoint']) || ' It takes endpoint.';
    throw invalidField('transport', `has '${name}', which is unknown.${meant}`);
  }
  const endpoint = url.searchParams.get('endpoint');
  const prefix = url.pathname.replace(/^\//, '');
  return {
    ...(url.hostname !== '' && { region: url.hostname }),
    ...(prefix !== '' && { prefix }),
    ...(endpoint !== null && { endpoint }),
  };
}
