import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { dynamoStore } from '@waybill/aws/dynamodb';
import { sqsTransport } from '@waybill/aws/sqs';
import { localClient, Meter } from '@waybill/aws/testing';
import type { EngineOptions } from '@waybill/core';
import { round } from '../result.ts';
import type { Units } from './prices.ts';

/** How jobs reach the workers, and whether the table keeps an index to claim by rank. */
export interface Way {
  overSqs: boolean;
  ready: 'index' | 'none';
}

export interface Place {
  dynamodb: string;
  sqs: string;
  way: Way;
}

export interface Metered {
  parts: Pick<EngineOptions, 'store' | 'transport'>;
  /** What `work` takes, for each of so many. */
  per(times: number, work: () => Promise<unknown>): Promise<Units>;
  /** Messages that wait; asked beside the meter. Without SQS there are never too few. */
  depth(queue: string): Promise<number>;
  close(): void;
}

type Sqs = Pick<SQSClient, 'send'>;

/** A table and, where it is wanted, queues of that name, whose every request is counted. */
export async function metered({ dynamodb, sqs, way }: Place, name: string): Promise<Metered> {
  const tables = localClient(dynamodb);
  const meter = new Meter(tables);
  const queues = new SQSClient({
    ...{ endpoint: sqs, region: 'us-east-1', useQueueUrlAsEndpoint: false },
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  let requests = 0;
  const send = (...args: Parameters<Sqs['send']>) => {
    requests += 1;
    return queues.send(...args);
  };
  const store = await dynamoStore({ table: name, client: meter, ready: way.ready });
  const prefix = name.slice(0, LONGEST_PREFIX);
  const counted = way.overSqs ? await sqsTransport({ prefix, client: { send } as Sqs }) : undefined;
  return {
    parts: { store, ...(counted && { transport: counted }) },
    per: async (times, work) => {
      const before = requests;
      const { write, read } = await meter.per(times, work);
      const sqs = (requests - before) / times;
      return { write: round(write, DIGITS), read: round(read, DIGITS), sqs: round(sqs, DIGITS) };
    },
    depth: async (queue) => (counted ? depthOf(queues, `${prefix}-${queue}-default`) : Number.POSITIVE_INFINITY),
    close: () => {
      tables.destroy();
      queues.destroy();
    },
  };
}

async function depthOf(client: Sqs, QueueName: string): Promise<number> {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName })).catch(() => ({ QueueUrl: undefined }));
  if (QueueUrl === undefined) return 0;
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] });
  const { Attributes = {} } = await client.send(command);
  return Number(Attributes['ApproximateNumberOfMessages']);
}

const LONGEST_PREFIX = 40;
const DIGITS = 4;
