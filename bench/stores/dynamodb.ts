import { startCloud } from '@waybill/aws/cloud';
import { hasJava } from '@waybill/aws/testing';
import { costs, variation } from '../aws/costs.ts';
import { costTable } from '../aws/report.ts';
import type { BenchStore } from './store.ts';

const SYSTEMS = {
  sqs: costs({ overSqs: true, ready: 'none' }),
  'sqs-ranked': costs({ overSqs: true, ready: 'index' }),
  poll: costs({ overSqs: false, ready: 'index' }),
};

const SQS = { overSqs: true, ready: 'none' } as const;

const UNIQUE = { keys: ['meta'], meta_keys: ['n'] };

/** What makes a job dearer. */
const VARIATIONS = {
  plain: variation(SQS, {}),
  'args-3kb': variation(SQS, { args: 'x'.repeat(3_068) }),
  'idempotency-key': variation(SQS, { withIdempotencyKey: true }),
  unique: variation(SQS, { more: (n) => ({ meta: { n }, options: { unique: UNIQUE } }) }),
  limited: variation(SQS, { more: (n) => ({ options: { rate_limit: { key: `key-${n}`, concurrency: 1 } } }) }),
  'run-again': variation(SQS, { again: 1 }),
  alone: variation(SQS, { alone: true }),
};

const why = 'DynamoDB Local needs Java 17, and there is no `java` in the PATH';

/** What AWS would bill, counted on its emulators: their speed says nothing about it. */
export const dynamodb: BenchStore = {
  rounds: 1,
  workloads: {
    costs: { systems: SYSTEMS, report: costTable },
    variations: { systems: VARIATIONS, report: costTable },
  },
  host: async () => {
    if (!hasJava) {
      const missing = Object.fromEntries(Object.keys({ ...SYSTEMS, ...VARIATIONS }).map((system) => [system, why]));
      return { servers: {}, serverOf: () => undefined, missing, close: async () => {} };
    }
    const { endpoints, stop } = await startCloud();
    const server = 'DynamoDB Local and fauxqs';
    const servers = { dynamodb: endpoints.dynamodb, sqs: endpoints.sqs };
    return { servers, serverOf: () => server, missing: {}, close: stop };
  },
  place: async (_folder, { dynamodb, sqs }) => ({
    ...{ store: `dynamodb://us-east-1/bench?endpoint=${dynamodb}`, remove: async () => {} },
    ...(dynamodb !== undefined && { dynamodb }),
    ...(sqs !== undefined && { sqs }),
  }),
};
