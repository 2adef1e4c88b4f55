import type { DynamoOptions } from '@waybill/aws/dynamodb';
import { badAddress, checkParameters, parseUrl } from './address.ts';

export type DynamoSettings = Pick<DynamoOptions, 'table' | 'region' | 'endpoint' | 'ready'>;

/** Errors name the endpoint that does not answer, so it must hold nothing secret. */
const ENDPOINT = /^https?:\/\/[^/?#@\\]+(?:\/[^?#@]*)?$/i;

/** Reads `dynamodb://REGION/TABLE?endpoint=..&ready=index|none`; the region may be left to the environment. */
export function dynamoOptions(address: string): DynamoSettings {
  const url = parseUrl(address, 'dynamodb');
  const table = url.pathname.replace(/^\//, '');
  if (!/^dynamodb:\/\//i.test(address) || table === '') {
    throw badAddress(address, 'it must name a table, like dynamodb://REGION/TABLE.', ['dynamodb']);
  }
  checkParameters(address, url.searchParams, ['endpoint', 'ready'], 'dynamodb');
  const [endpoint, ready] = [url.searchParams.get('endpoint'), url.searchParams.get('ready')];
  if (endpoint !== null && !(ENDPOINT.test(endpoint) && URL.canParse(endpoint))) {
    const why = "'endpoint' must be an address like http://127.0.0.1:8000, without user, password and parameters.";
    throw badAddress(address, why, ['dynamodb']);
  }
  if (ready !== null && ready !== 'index' && ready !== 'none') {
    throw badAddress(address, "'ready' must be index or none.", ['dynamodb']);
  }
  return {
    table,
    ...(url.hostname !== '' && { region: url.hostname }),
    ...(endpoint !== null && { endpoint }),
    ...(ready !== null && { ready }),
  };
}
