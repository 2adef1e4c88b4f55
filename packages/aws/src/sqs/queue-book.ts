import { WaybillError } from '@waybill/core';
import type { Base } from './base.ts';
import { isMissing, wasDeletedJustNow } from './failures.ts';
import { type Place, queueName, ROLES, type Role } from './queue-names.ts';

/** How long a queue that was not there is taken to be still missing. */
const MISSING_FOR_MS = 60_000;
/** Receives after which a message goes to the redrive queue. */
const MOST_RECEIVES = 3;
const DAY_S = 86_400;

/** For whoever receives without naming a time: Lambda. Six times the longest run of a function is AWS's advice. */
const VISIBILITY_S = 300;

/** Where the queues are. Finds, makes and remembers them. */
export class QueueBook {
  readonly #base: Base;
  readonly #urls = new Map<string, Promise<string>>();
  readonly #missing = new Map<string, number>();
  #turn = 0;

  constructor(base: Base) {
    this.#base = base;
    for (const urls of Object.values(base.settings.queues)) {
      for (const url of Object.values(urls)) this.#urls.set(nameOf(url), Promise.resolve(url));
    }
  }

  /** The name of the queue that has this role; undefined where addresses were given and this is not among them. */
  nameFor(place: Place, role: Role): string | undefined {
    const { queues, queuesTenant, stem } = this.#base.settings;
    const given = place.tenant === queuesTenant && Object.hasOwn(queues, place.queue) ? queues[place.queue] : undefined;
    if (!given) return queueName(stem, place, role);
    const url = given[role] ?? (role === 'high' || role === 'low' ? given.default : undefined);
    return url === undefined ? undefined : nameOf(url);
  }

  /**
   * Whether a receipt may name this queue. It comes from whoever holds the lease, so it must not reach any other queue of
   * the account. A heartbeat knows the tenant only, and no job queue.
   */
  isOwn(name: string, { tenant, queue }: Place): boolean {
    const { queues, stem } = this.#base.settings;
    if (queue !== '') return ROLES.some((role) => this.nameFor({ tenant, queue }, role) === name);
    const given = Object.values(queues).flatMap((urls) => Object.values(urls));
    if (given.some((url) => nameOf(url) === name)) return true;
    return name.startsWith(`${stem}-`) && ROLES.some((role) => name.endsWith(`-${role}`));
  }

  /** The address of a queue by its name; undefined when there is none. */
  async find(name: string): Promise<string | undefined> {
    const known = this.#urls.get(name);
    if (known) return known;
    const now = this.#base.settings.clock.monotonic();
    if ((this.#missing.get(name) ?? Number.NEGATIVE_INFINITY) > now - MISSING_FOR_MS) return undefined;
    const found = await this.#lookUp(name);
    if (found === undefined) this.#missing.set(name, now);
    else this.#remember(name, Promise.resolve(found));
    return found;
  }

  /** Refuses a job queue without an SQS queue. Undefined where it is known that there is one. */
  check(place: Place): Promise<void> | undefined {
    const name = this.nameFor(place, 'default')!;
    return this.#urls.has(name) ? undefined : this.#check(name, place);
  }

  async #check(name: string, { queue }: Place): Promise<void> {
    // The row of a job is enough to run it: an SQS that does not answer keeps no job from being stored.
    const found = await this.find(name).catch(() => '');
    if (found === undefined) throw notConfigured(queue, name);
  }

  /** The address of a queue, which is made if need be. */
  async make(place: Place, role: Role): Promise<string> {
    const name = this.nameFor(place, role);
    if (name === undefined) throw new WaybillError('not_found', `There is no ${role} queue for '${place.queue}'.`);
    const known = this.#urls.get(name);
    if (known) return known;
    const made = this.#findOrCreate(place, role, name);
    this.#remember(name, made);
    made.catch(() => this.forget(name));
    return made;
  }

  /** The queues that this process knows, one after the other; undefined while it knows none. */
  async next(): Promise<{ name: string; url: string } | undefined> {
    const known = [...this.#urls];
    const turn = known[this.#turn++ % known.length];
    const url = await turn?.[1].catch(() => undefined);
    return turn === undefined || url === undefined ? undefined : { name: turn[0], url };
  }

  /** Whether this queue may be made when it is not there. Those whose addresses were given are somebody else's. */
  mayMake(name: string): boolean {
    const { queues, createQueues } = this.#base.settings;
    const given = Object.values(queues).flatMap((urls) => Object.values(urls).map((url) => nameOf(url)));
    return createQueues && !given.includes(name);
  }

  /** Somebody deleted the queue. */
  forget(name: string): void {
    this.#urls.delete(name);
    this.#missing.delete(name);
  }

  #remember(name: string, url: Promise<string>): void {
    this.#urls.set(name, url);
    this.#missing.delete(name);
  }

  async #lookUp(name: string): Promise<string | undefined> {
    const { client, sdk } = this.#base;
    try {
      const { QueueUrl } = await client.send(new sdk.GetQueueUrlCommand({ QueueName: name }));
      return QueueUrl;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #findOrCreate(place: Place, role: Role, name: string): Promise<string> {
    const found = await this.#lookUp(name);
    if (found !== undefined) return found;
    const { client, sdk, settings } = this.#base;
    if (!settings.createQueues) throw notConfigured(place.queue, name);
    const isLast = role === 'redrive' || role === 'dead';
    const Attributes = {
      SqsManagedSseEnabled: 'true',
      VisibilityTimeout: String(VISIBILITY_S),
      ReceiveMessageWaitTimeSeconds: '20',
      MessageRetentionPeriod: String((isLast ? 14 : 4) * DAY_S),
      ...(!isLast && { RedrivePolicy: await this.#redrivePolicy(place) }),
    };
    try {
      const { QueueUrl } = await client.send(new sdk.CreateQueueCommand({ QueueName: name, Attributes }));
      settings.logger.info({ queue: name }, 'An SQS queue was made.');
      return QueueUrl!;
    } catch (error) {
      if (!wasDeletedJustNow(error)) throw error;
      throw new WaybillError('unavailable', `SQS lets the queue '${name}' be made again a minute after its deletion.`, {
        cause: error,
      });
    }
  }

  async #redrivePolicy(place: Place): Promise<string> {
    const { client, sdk } = this.#base;
    const QueueUrl = await this.make(place, 'redrive');
    const answer = await client.send(new sdk.GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
    return JSON.stringify({ deadLetterTargetArn: answer.Attributes?.['QueueArn'], maxReceiveCount: MOST_RECEIVES });
  }
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

const notConfigured = (queue: string, name: string): WaybillError =>
  new WaybillError('invalid_request', `The queue '${queue}' is not configured: there is no SQS queue '${name}'.`, {
    details: { field: 'queue', queue, sqs_queue: name },
    hint: "Make the SQS queue, give its address by 'queues', or let queues be made by 'createQueues'. A queue that was made is noticed within a minute.",
  });
