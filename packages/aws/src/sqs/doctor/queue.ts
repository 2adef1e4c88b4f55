import type { Check } from '../../doctor/check.ts';
import type { Base } from '../base.ts';
import { isMissing } from '../failures.ts';
import type { QueueBook } from '../queue-book.ts';
import { type Role, TIERS } from '../queue-names.ts';

/** Shorter, and a message comes again while its first receiver is still about to claim the job. */
const SHORTEST_VISIBILITY_S = 30;

type Attributes = Readonly<Record<string, string>>;

interface Seen {
  role: Role;
  name: string;
  attributes: Attributes;
}

/** The SQS queues of one job queue. */
export async function examineQueue(base: Base, book: QueueBook, queue: string): Promise<Check> {
  const name = `queue ${queue}`;
  const roles: readonly Role[] = [...TIERS, 'redrive', 'dead'];
  const found = await Promise.all(roles.map((role) => lookAt(base, book, queue, role)));
  const seen = found.filter((one) => one !== undefined);
  const isThere = seen.some(({ role }) => role === 'default');
  if (!isThere) return absent(name, book.nameFor({ tenant: '', queue }, 'default')!, base.settings.createQueues);
  const tiers = seen.filter(({ role }) => role !== 'redrive' && role !== 'dead');
  const depth = tiers.map(({ role, attributes }) => `${role} ${depthOf(attributes)}`).join(', ');
  const unredriven = tiers.filter(({ attributes }) => attributes['RedrivePolicy'] === undefined);
  if (unredriven.length > 0) {
    const message = `${names(unredriven)} without redrive: what nobody deletes comes again and again`;
    const hint = 'Give them a redrive policy with 3 receives, as queues have that Waybill makes.';
    return { name, status: 'warn', message, hint };
  }
  const short = tiers.filter(({ attributes }) => Number(attributes['VisibilityTimeout']) < SHORTEST_VISIBILITY_S);
  if (short.length > 0) {
    const message = `${names(short)} hide a message for less than ${SHORTEST_VISIBILITY_S} s`;
    const hint = 'Workers name a time of their own; Lambda does not: take six times the timeout of the function.';
    return { name, status: 'warn', message, hint };
  }
  const [redriven, dead] = (['redrive', 'dead'] as const).map((role) => waitingIn(seen, role));
  const told = dead === 0 ? depth : `${depth}; ${dead} in its dead queue`;
  if (redriven === 0) return { name, status: 'ok', message: told };
  const hint =
    'Received three times and never deleted. Workers look there each minute; `waybill dead list` shows them.';
  return { name, status: 'warn', message: `${redriven} in its redrive queue; ${told}`, hint };
}

function absent(name: string, queue: string, isMade: boolean): Check {
  const message = `there is no SQS queue '${queue}'`;
  if (isMade) return { name, status: 'warn', message, hint: 'The first job or worker makes it.' };
  return { name, status: 'fail', message, hint: 'Make it, or check the address that was given; or is it forbidden?' };
}

async function lookAt(base: Base, book: QueueBook, queue: string, role: Role): Promise<Seen | undefined> {
  const name = book.nameFor({ tenant: '', queue }, role);
  const url = name === undefined ? undefined : await book.find(name);
  if (name === undefined || url === undefined) return undefined;
  const { sdk, client } = base;
  const command = new sdk.GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] });
  try {
    const { Attributes = {} } = await client.send(command);
    return { role, name, attributes: Attributes };
  } catch (error) {
    // An address that was given leads nowhere.
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const numberIn = (attributes: Attributes, name: string): number => Number(attributes[name] ?? 0);

const waitingIn = (seen: readonly Seen[], wanted: Role): number =>
  seen
    .filter(({ role }) => role === wanted)
    .reduce((sum, { attributes }) => sum + numberIn(attributes, 'ApproximateNumberOfMessages'), 0);

function depthOf(attributes: Attributes): string {
  const [waiting, held, delayed] = ['', 'NotVisible', 'Delayed'].map((kind) =>
    numberIn(attributes, `ApproximateNumberOfMessages${kind}`),
  );
  return `${waiting} waiting, ${held} held${delayed === 0 ? '' : `, ${delayed} delayed`}`;
}

const names = (seen: readonly Seen[]): string => [...new Set(seen.map(({ name }) => name))].join(', ');
