import type { Check } from '../../doctor/check.ts';
import { type Asked, deniedBy, isDenied } from '../../doctor/faults.ts';
import type { Base } from '../base.ts';
import type { QueueBook } from '../queue-book.ts';

const name = 'messages';
/** Nobody was ever given it. */
const NO_RECEIPT = 'doctor';

/**
 * Asks for what cannot be done, so that nothing happens: a refusal for want of permission is certain, any other one means
 * that it is most likely allowed.
 */
export async function checkPermissions(base: Base, book: QueueBook, queues: readonly string[]): Promise<Check> {
  const { sdk, client } = base;
  const found = await firstOf(book, queues);
  if (found === undefined) {
    return { name, status: 'ok', message: 'whether they may be sent and received shows with the first queue' };
  }
  const QueueUrl = found.url;
  const one = { Id: '0', ReceiptHandle: NO_RECEIPT };
  const tries: Record<string, () => Promise<unknown>> = {
    SendMessage: () => client.send(new sdk.SendMessageBatchCommand({ QueueUrl, Entries: [] })),
    ReceiveMessage: () => client.send(new sdk.ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 11 })),
    DeleteMessage: () => client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl, Entries: [one] })),
    ChangeMessageVisibility: () =>
      client.send(
        new sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries: [{ ...one, VisibilityTimeout: 0 }] }),
      ),
  };
  const denied: string[] = [];
  for (const [action, send] of Object.entries(tries)) {
    const asked: Asked = { service: 'SQS', action: `sqs:${action}`, resource: found.name };
    await send().catch((error: unknown) => {
      if (isDenied(error)) denied.push(deniedBy(error, asked));
    });
  }
  if (denied.length === 0) {
    return { name, status: 'ok', message: 'may be sent, received, hidden and deleted, as far as can be told' };
  }
  const hint = 'Add them to the policy of this role; docs/aws.md lists all that is needed.';
  return { name, status: 'fail', message: `not allowed: ${denied.join('; ')}`, hint };
}

async function firstOf(book: QueueBook, queues: readonly string[]) {
  for (const queue of queues) {
    const name = book.nameFor({ tenant: '', queue }, 'default');
    const url = name === undefined ? undefined : await book.find(name);
    if (name !== undefined && url !== undefined) return { name, url };
  }
  return undefined;
}
