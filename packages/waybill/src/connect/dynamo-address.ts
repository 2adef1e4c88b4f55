import type { DynamoOptions } from '@waybill/aws/dynamodb';
import { invalidField } from '@waybill/core';

export const isDynamo = (address: string): boolean => address.startsWith('dynamodb:');

/** Reads `dynamodb://REGION/TABLE?endpoint=..&ready=index|none`; the region may be left to the environment. */
export function dynamoOptions(address: string): Pick<DynamoOptions, 'table' | 'region' | 'endpoint' | 'ready'> {
  const url = URL.canParse(address) ? new URL(address) : null;
  const table = url?.pathname.replace(/^\//, '') ?? '';
  if (url?.protocol !== 'dynamodb:' || table === '') {
    throw invalidField('store', 'must be like dynamodb://REGION/TABLE?endpoint=..');
  }
  const stray = [...url.searchParams.keys()].find((name) => name !== 'endpoint' && name !== 'ready');
  if (stray !== undefined) throw invalidField('store', `has '${stray}', which DynamoDB does not know.`);
  const [endpoint, ready] = [url.searchParams.get('endpoint'), url.searchParams.get('ready')];
  if (ready !== null && ready !== 'index' && ready !== 'none') throw invalidField('ready', 'must be index or none.');
  return {
    table,
    ...(url.hostname !== '' && { region: url.hostname }),
    ...(endpoint !== null && { endpoint }),
    ...(ready !== null && { ready }),
  };
}
