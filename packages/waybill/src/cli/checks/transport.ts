import type { Context } from '../context.ts';
import { refusalOf } from '../report.ts';
import { type Check, GROUND } from './check.ts';

/** What carries the hints to and from the queues that the store knows. The poll transport is the store itself. */
export async function checkTransport(context: Context, transport: string, store: readonly Check[]): Promise<Check[]> {
  if (transport === 'poll') return [];
  const name = 'transport';
  const { sqsOptionsOf, examineSqs } = await import('@waybill/aws/sqs');
  try {
    const options = { ...sqsOptionsOf(transport), clock: context.clock };
    const isThere = store.every((check) => check.status === 'ok' || !GROUND.includes(check.name));
    return await examineSqs(options, isThere ? await queuesOf(context) : []);
  } catch (error) {
    const { message, hint } = refusalOf(error);
    return [{ name, status: 'fail', message, ...(hint !== undefined && { hint }) }];
  }
}

/** By the poll transport: the queues shall be listed also when SQS is in trouble. */
async function queuesOf(context: Context): Promise<string[]> {
  const { queues } = await context.connect({ transport: 'poll' });
  return (await queues.list()).map(({ name }) => name);
}
