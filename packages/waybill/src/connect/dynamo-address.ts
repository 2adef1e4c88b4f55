import type { DynamoOptions } from '@waybill/aws/dynamodb';
import { badAddress, checkParameters, parseUrl } from './address.ts';

export const isDynamo = (address: string): boolean => /^dynamodb:/i.test(address);

/** Reads `dynamodb://REGION/TABLE?endpoint=..&ready=index|none`; the region may be left to the environment. */
export function dynamoOptions(address: string): Pick<DynamoOptions, 'table' | 'region' | 'endpoint' | 'ready'> {
  const url = parseUrl(address, 'dynamodb');
  const table = url.pathname.replace(/^\//, '');
  if (!/^dynamodb:\/\//i.test(address) || table === '') {
    throw badAddress(address, 'it must name a table, like dynamodb://REGION/TABLE.', ['dynamodb']);
  }
  checkParameters(address, url.searchParams, ['endpoint', 'ready'], 'dynamodb');
  const [endpoint, ready] = [url.searchParams.get('endpoint'), url.searchParams.get('ready')];
  if (endpoint !== null && !/^https?:\/\//.test(endpoint)) {
    throw badAddress(address, "'endpoint' must be an address like http://127.0.0.1:8000.", ['dynamodb']);
  }
  if (ready !== null && ready !== 'index' && ready !== 'none') {
    throw badAddress(address, `'ready' must be index or none, not '${ready}'.`, ['dynamodb']);
  }
  return {
    table,
    ...(url.hostname !== '' && { region: url.hostname }),
    ...(endpoint !== null && { endpoint }),
    ...(ready !== null && { ready }),
  };
}
