// The Lambda function of docs/aws.md: `bundle.test.ts` makes one file of it and of everything that it imports.
import { workerHandler } from '@waybill/aws/lambda';
import { sqsOptionsOf, sqsTransport } from '@waybill/aws/sqs';
import { openStore, task, Worker } from 'waybill';

const greet = task('greet.person', { queue: 'greetings', run: async ({ name }) => `hello ${name}` });

export const handler = workerHandler({
  open: async () => ({
    store: await openStore(process.env.WAYBILL_STORE),
    transport: await sqsTransport(sqsOptionsOf(process.env.WAYBILL_TRANSPORT)),
  }),
  worker: (jobs) => new Worker({ jobs, tasks: [greet], queues: ['greetings'] }),
});
