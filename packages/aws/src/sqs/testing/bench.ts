import { randomUUID } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { silentLogger } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, vi } from 'vitest';
import type { SqsOptions } from '../settings.ts';
import { type SqsTransport, sqsTransport } from '../sqs-transport.ts';

export interface LocalSqs {
  server: FauxqsServer;
  client: SQSClient;
  clock: TestClock;
  /** Begins the names of this test's queues, so that tests do not meet each other's messages. */
  prefix: string;
  open(options?: SqsOptions): Promise<SqsTransport>;
  /** Lets time pass, for us and for the messages. */
  advance(ms: number): Promise<void>;
}

/**
 * An SQS in this process, for the tests of a file. It reads the time of day from `Date`, which here shows the test's own
 * clock: messages are hidden and delayed in virtual time.
 */
export function useLocalSqs(): () => LocalSqs {
  let server: FauxqsServer | undefined;
  let client: SQSClient | undefined;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
    client = new SQSClient({
      endpoint: server.address,
      useQueueUrlAsEndpoint: false,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
  });
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
    vi.useRealTimers();
  });
  return () => {
    const clock = new TestClock();
    const prefix = `t${randomUUID().slice(0, 8)}`;
    vi.setSystemTime(clock.now());
    return {
      ...{ server: server!, client: client!, clock, prefix },
      open: (options = {}) => sqsTransport({ prefix, client: client!, clock, logger: silentLogger, ...options }),
      advance: async (ms) => {
        vi.setSystemTime(clock.now() + ms);
        await clock.advance(ms);
      },
    };
  };
}
