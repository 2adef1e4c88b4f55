import { WaybillError } from '@waybill/core';
import { faultOf } from '../doctor/faults.ts';
import { Pulse } from '../pulse.ts';
import type { Base } from './base.ts';
import { isMissing } from './failures.ts';
import type { QueueBook } from './queue-book.ts';

/** Whether SQS answers, and for one queue after the other of those in use whether it is still there. */
export function queuePulse(base: Base, book: QueueBook): Pulse {
  const { sdk, client, settings } = base;
  return new Pulse(settings.clock, async () => {
    const next = await book.next();
    const name = next?.name ?? book.nameFor({ tenant: '', queue: 'default' }, 'default')!;
    try {
      if (next) {
        await client.send(new sdk.GetQueueAttributesCommand({ QueueUrl: next.url, AttributeNames: ['QueueArn'] }));
      } else await client.send(new sdk.GetQueueUrlCommand({ QueueName: name }));
    } catch (cause) {
      const isGone = isMissing(cause);
      // The next job makes it anew.
      if (isGone && book.mayMake(name)) return;
      const action = next ? 'sqs:GetQueueAttributes' : 'sqs:GetQueueUrl';
      const { message } = faultOf(cause, { service: 'SQS', action, resource: name });
      const told = isGone ? `There is no SQS queue '${name}'.` : `SQS: ${message}.`;
      throw new WaybillError('unavailable', told, { cause });
    }
  });
}
