// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type { FauxqsServer } from 'fauxqs';
import { startDynamoDb } from './dynamodb.ts';
import { type BusEvent, startEventBus } from './event-bus.ts';
import { LoopbackGuard } from './loopback-guard.ts';
import { optional } from './optional.ts';

export interface CloudOptions {
  /** The first of three ports: SQS and S3, DynamoDB, EventBridge. @defaultValue any free ones */
  port?: number;
  /** @defaultValue 'us-east-1' */
  region?: string;
  /** The table, the bucket, and what the names of queues begin with. @defaultValue 'waybill' */
  name?: string;
}

export interface Cloud {
  /** SQS and S3 share an address. */
  endpoints: { sqs: string; s3: string; dynamodb: string; events: string };
  /** What a program needs in its environment to use this cloud. */
  env: Record<string, string>;
  /** For tests: what is in the queues. */
  sqs: FauxqsServer;
  /** For tests: what was put on the event bus. */
  events: readonly BusEvent[];
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

/** SQS, S3, DynamoDB and EventBridge on loopback, in memory, for one machine and no longer than this process. */
export async function startCloud({
  port = 0,
  region = 'us-east-1',
  name = 'waybill',
}: CloudOptions = {}): Promise<Cloud> {
  const { startFauxqs } = await optional('fauxqs', () => import('fauxqs'));
  const at = (offset: number): number => (port === 0 ? 0 : port + offset);
  const running: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(running.splice(0).map((part) => part.stop()));
  };
  try {
    const guard = new LoopbackGuard();
    running.push(guard);
    guard.add(at(0));
    // Its host is only what it says of itself; it listens on all interfaces.
    const sqs = await startFauxqs({ port: at(0), host: HOST, logger: false, defaultRegion: region });
    running.push(sqs);
    guard.add(sqs.port);
    sqs.createBucket(name);
    const dynamodb = await startDynamoDb(HOST, at(1));
    running.push(dynamodb);
    const deliver = (arn: string, event: BusEvent) => {
      sqs.sendMessage(arn.slice(arn.lastIndexOf(':') + 1), JSON.stringify(event), { region });
    };
    const bus = await startEventBus({ host: HOST, port: at(2), region, deliver });
    running.push(bus);
    const sqsEndpoint = `http://${HOST}:${sqs.port}`;
    const endpoints = { sqs: sqsEndpoint, s3: sqsEndpoint, dynamodb: dynamodb.endpoint, events: bus.endpoint };
    return { endpoints, env: envOf(endpoints, region, name, dynamodb.accessKey), sqs, events: bus.events, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The SDK takes the address of each service from the environment, so nothing but these lines has to change. */
function envOf(endpoints: Cloud['endpoints'], region: string, name: string, accessKey: string): Record<string, string> {
  return {
    WAYBILL_STORE: `dynamodb://${region}/${name}?endpoint=${endpoints.dynamodb}`,
    WAYBILL_TRANSPORT: `sqs://${region}/${name}?endpoint=${endpoints.sqs}`,
    WAYBILL_BLOBS: `s3://${name}?region=${region}&endpoint=${endpoints.s3}`,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.events,
  };
}
