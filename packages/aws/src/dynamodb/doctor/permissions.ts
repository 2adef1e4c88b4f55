import type { Check } from '../../doctor/check.ts';
import { type Asked, deniedBy, faultOf, isDenied } from '../../doctor/faults.ts';
import type { Client, Sdk, TableDescription } from '../sdk.ts';

const name = 'permissions';
/** No item has this key, so conditions that ask for one fail and change nothing. */
const Key = { pk: { S: 'DOCTOR' }, sk: { S: 'DOCTOR' } };
const ConditionExpression = 'attribute_exists(pk)';

/** DynamoDB looks at permissions before it looks at conditions: a condition that failed was allowed to be asked. */
const ANSWERS = new Set(['ConditionalCheckFailedException', 'TransactionCanceledException']);

/** Tries every action that the store needs, each so that nothing changes. */
export async function checkPermissions(sdk: Sdk, client: Client, table: TableDescription): Promise<Check> {
  const TableName = table.TableName!;
  const arn = table.TableArn ?? `table/${TableName}`;
  const query = (IndexName: string | undefined, hash: string) => () =>
    client.send(
      new sdk.QueryCommand({
        ...{ TableName, Limit: 1, KeyConditionExpression: '#h = :h', ...(IndexName !== undefined && { IndexName }) },
        ExpressionAttributeNames: { '#h': hash },
        ExpressionAttributeValues: { ':h': { S: 'DOCTOR' } },
      }),
    );
  const indexes = (table.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema }) => ({
    ...{ action: 'Query', resource: `${arn}/index/${IndexName}` },
    send: query(IndexName, KeySchema?.[0]?.AttributeName ?? 'pk'),
  }));
  const tries: { action: string; resource?: string; send(): Promise<unknown> }[] = [
    { action: 'GetItem', send: () => client.send(new sdk.GetItemCommand({ TableName, Key })) },
    {
      action: 'BatchGetItem',
      send: () => client.send(new sdk.BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [Key] } } })),
    },
    { action: 'Query', send: query(undefined, 'pk') },
    ...indexes,
    {
      action: 'PutItem',
      send: () => client.send(new sdk.PutItemCommand({ TableName, Item: Key, ConditionExpression })),
    },
    {
      action: 'UpdateItem',
      send: () => client.send(new sdk.UpdateItemCommand({ TableName, Key, ConditionExpression })),
    },
    {
      action: 'DeleteItem',
      send: () => client.send(new sdk.DeleteItemCommand({ TableName, Key, ConditionExpression })),
    },
    {
      action: 'ConditionCheckItem',
      send: () => {
        const TransactItems = [{ ConditionCheck: { TableName, Key, ConditionExpression } }];
        return client.send(new sdk.TransactWriteItemsCommand({ TransactItems }));
      },
    },
  ];
  const denied: string[] = [];
  for (const { action, resource = arn, send } of tries) {
    const asked: Asked = { service: 'DynamoDB', action: `dynamodb:${action}`, resource };
    try {
      await send();
    } catch (error) {
      if (isDenied(error)) denied.push(deniedBy(error, asked));
      else if (!ANSWERS.has((error as Error).name)) return { name, status: 'fail', ...faultOf(error, asked) };
    }
  }
  if (denied.length === 0) return { name, status: 'ok', message: 'all that the store does is allowed' };
  const hint = 'Add them to the policy of this role; docs/aws.md lists all that is needed.';
  return { name, status: 'fail', message: `not allowed: ${denied.join('; ')}`, hint };
}
