import { DescribeTableCommand, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';

/** DynamoDB Local looks at the form of a signature only, and finds the database by the access key. */
const authorization = (accessKey: string): string =>
  `AWS4-HMAC-SHA256 Credential=${accessKey}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none`;

/** The stream of a table in DynamoDB Local, over its plain protocol: the client of streams is a package of its own. */
export class TableStream {
  readonly #client: DynamoDBClient;
  readonly #endpoint: string;
  readonly #table: string;
  #marks = 0;

  constructor(client: DynamoDBClient, endpoint: string, table: string) {
    this.#client = client;
    this.#endpoint = endpoint;
    this.#table = table;
  }

  /** Everything that was written until now, from the beginning: the stream may be late, so it is read up to a mark. */
  async read(): Promise<DynamoDBRecord[]> {
    const sk = `mark-${++this.#marks}`;
    const Item = { pk: { S: 'MARK' }, sk: { S: sk } };
    await this.#client.send(new PutItemCommand({ TableName: this.#table, Item }));
    const { Table } = await this.#client.send(new DescribeTableCommand({ TableName: this.#table }));
    const StreamArn = Table!.LatestStreamArn!;
    const { StreamDescription } = await this.#ask<{ StreamDescription: { Shards: { ShardId: string }[] } }>(
      'DescribeStream',
      { StreamArn },
    );
    const [shard, ...others] = StreamDescription.Shards;
    if (!shard || others.length > 0) throw new Error('Expected a young stream, which has one shard.');
    const { ShardIterator } = await this.#ask<{ ShardIterator: string }>('GetShardIterator', {
      ...{ StreamArn, ShardId: shard.ShardId, ShardIteratorType: 'TRIM_HORIZON' },
    });
    return this.#readUntil(sk, ShardIterator);
  }

  async #readUntil(mark: string, first: string): Promise<DynamoDBRecord[]> {
    const records: DynamoDBRecord[] = [];
    for (let iterator = first; ; ) {
      const answer = await this.#ask<{ Records: DynamoDBRecord[]; NextShardIterator?: string }>('GetRecords', {
        ShardIterator: iterator,
      });
      records.push(...answer.Records);
      if (records.some(({ dynamodb }) => dynamodb?.Keys?.['sk']?.S === mark)) return records;
      if (!answer.NextShardIterator) throw new Error('The shard has ended.');
      iterator = answer.NextShardIterator;
    }
  }

  async #ask<Answer>(operation: string, input: object): Promise<Answer> {
    const { accessKeyId } = await this.#client.config.credentials();
    const response = await fetch(this.#endpoint, {
      method: 'POST',
      headers: {
        Authorization: authorization(accessKeyId),
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': `DynamoDBStreams_20120810.${operation}`,
      },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }
}
