import type { Check } from '../doctor/check.ts';
import { type Asked, failed } from '../doctor/faults.ts';
import { ServerClock } from '../doctor/server-clock.ts';
import type { Base } from './base.ts';
import { checkPermissions } from './doctor/permissions.ts';
import { examineQueue } from './doctor/queue.ts';
import { isMissing } from './failures.ts';
import { openClient } from './open-client.ts';
import { QueueBook } from './queue-book.ts';
import { type SqsOptions, settingsOf } from './settings.ts';

/** More would be read by nobody, and cost requests for each. */
const MOST_QUEUES = 50;

/** Looks for what could go wrong between these job queues and SQS, and changes nothing. */
export async function examineSqs(options: SqsOptions, queues: readonly string[]): Promise<Check[]> {
  const settings = settingsOf(options);
  const { sdk, client, poller, close } = await openClient(options);
  const base: Base = { sdk, client, poller, settings };
  const book = new QueueBook(base);
  const serverClock = new ServerClock(settings.clock);
  const checks: Check[] = [];
  try {
    const probe = book.nameFor({ tenant: '', queue: queues[0] ?? 'default' }, 'default')!;
    const reach = await checkReach(base, probe, serverClock);
    checks.push(reach, serverClock.check('sqs clock'));
    if (reach.status === 'fail') return checks;
    for (const queue of queues.slice(0, MOST_QUEUES)) {
      const asked: Asked = { service: 'SQS', action: 'sqs:GetQueueAttributes', resource: queue };
      checks.push(
        await examineQueue(base, book, queue).catch((error: unknown) => failed(`queue ${queue}`, 'fail', error, asked)),
      );
    }
    const rest = queues.length - MOST_QUEUES;
    if (rest > 0) checks.push({ name: 'queues', status: 'ok', message: `${rest} more were not looked at` });
    checks.push(await checkPermissions(base, book, queues));
    return checks;
  } finally {
    close();
  }
}

/** A queue that is not there is an answer like any other. */
async function checkReach({ sdk, client }: Base, QueueName: string, serverClock: ServerClock): Promise<Check> {
  const name = 'sqs';
  const before = performance.now();
  const answered = (): Check => ({
    ...{ name, status: 'ok', message: `SQS answers in ${Math.ceil(performance.now() - before)} ms` },
  });
  try {
    await client.send(serverClock.watch(new sdk.GetQueueUrlCommand({ QueueName })));
    return answered();
  } catch (error) {
    if (isMissing(error)) return answered();
    return failed(name, 'fail', error, { service: 'SQS', action: 'sqs:GetQueueUrl', resource: QueueName });
  }
}
