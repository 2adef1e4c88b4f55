import { didYouMean, invalidField } from '@waybill/core';
import { LONGEST_VISIBILITY_S, type SqsOptions } from './settings.ts';

/** The name is not shown, because it may be part of a password that was not percent-encoded. */
export function checkNames(option: string, { searchParams }: URL, known: readonly string[]): void {
  const unknown = [...searchParams.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = didYouMean(unknown, known) || ` It takes ${known.join(' and ')}.`;
  throw invalidField(option, `has an unknown parameter.${meant}`);
}

/** Errors name the endpoint that does not answer, so it must hold nothing secret. */
export function endpointIn(option: string, { searchParams }: URL): string | null {
  const endpoint = searchParams.get('endpoint');
  if (endpoint === null) return null;
  if (/^https?:\/\/[^/?#@\\]+(?:\/[^?#@]*)?$/i.test(endpoint) && URL.canParse(endpoint)) return endpoint;
  const rule = "must have an 'endpoint' like http://127.0.0.1:4566, without user, password and parameters.";
  throw invalidField(option, rule);
}

function visibilityIn({ searchParams }: URL): number | null {
  const visibility = searchParams.get('visibility');
  if (visibility === null) return null;
  const seconds = /^\d{1,5}$/.test(visibility) ? Number(visibility) : 0;
  if (seconds >= 1 && seconds <= LONGEST_VISIBILITY_S) return seconds;
  throw invalidField('transport', `must have a 'visibility' of whole seconds from 1 to ${LONGEST_VISIBILITY_S}.`);
}

/** Reads `sqs://REGION/PREFIX?endpoint=..&visibility=..`; both region and prefix may be left out. */
export function sqsOptionsOf(address: string): SqsOptions {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== 'sqs:') throw invalidField('transport', 'must be an address like sqs://eu-west-1/waybill.');
  checkNames('transport', url, ['endpoint', 'visibility']);
  const endpoint = endpointIn('transport', url);
  const visibilitySeconds = visibilityIn(url);
  const prefix = url.pathname.replace(/^\//, '');
  return {
    ...(url.hostname !== '' && { region: url.hostname }),
    ...(prefix !== '' && { prefix }),
    ...(endpoint !== null && { endpoint }),
    ...(visibilitySeconds !== null && { visibilitySeconds }),
  };
}
