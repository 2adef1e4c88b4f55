import { randomUUID } from 'node:crypto';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';

/** What the producer of the messages sends beside the body. */
export interface Sent {
  requestId?: string;
  body: unknown;
}

/** An SQS queue as its producer sees it. */
export class MessageQueue {
  readonly url: string;
  readonly name = `tasks-${randomUUID().slice(0, 8)}`;
  readonly server: FauxqsServer;
  readonly client: SQSClient;

  constructor(server: FauxqsServer) {
    this.server = server;
    server.createQueue(this.name);
    // At the address of the server: what it says itself is no host that every client finds.
    this.url = `${server.address}/000000000000/${this.name}`;
    this.client = new SQSClient({
      ...{ endpoint: server.address, region: 'eu-west-1', useQueueUrlAsEndpoint: false },
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
  }

  static async start(): Promise<MessageQueue> {
    return new MessageQueue(await startFauxqs({ port: 0, host: '127.0.0.1', logger: false }));
  }

  async send({ requestId, body }: Sent): Promise<void> {
    const attributes = requestId !== undefined && {
      MessageAttributes: { requestId: { DataType: 'String', StringValue: requestId } },
    };
    const MessageBody = typeof body === 'string' ? body : JSON.stringify(body);
    await this.client.send(new SendMessageCommand({ QueueUrl: this.url, MessageBody, ...attributes }));
  }

  /** Messages that can be received, and those that somebody holds. */
  get messages(): { visible: number; held: number } {
    const { ready, delayed, inflight } = this.server.inspectQueue(this.name)!.messages;
    return { visible: ready.length + delayed.length, held: inflight.length };
  }

  async stop(): Promise<void> {
    this.client.destroy();
    await this.server.stop();
  }
}
