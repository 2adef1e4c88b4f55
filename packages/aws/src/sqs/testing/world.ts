import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { engine, type Lease, type Store, silentLogger, type Waybill } from '@waybill/core';
import type { Client } from '../sdk.ts';
import type { SqsTransport } from '../sqs-transport.ts';
import type { LocalSqs } from './bench.ts';

const STEP_MS = 1_000;
/** The sweep and the pruner of the engine. */
const LOOPS = 2;
const COMPLETED = { kind: 'completed', result: null } as const;

/** An engine over SQS with jobs in one queue, and everything that can go wrong with their messages. */
export class World {
  readonly waybill: Waybill;
  readonly sqs: LocalSqs;
  readonly transport: SqsTransport;
  /** Settles per job that the engine has taken. */
  readonly effects = new Map<string, number>();
  readonly ids: string[] = [];

  constructor(sqs: LocalSqs, store: Store, transport: SqsTransport) {
    this.sqs = sqs;
    this.transport = transport;
    this.waybill = engine({ store, transport, logger: silentLogger });
  }

  /** Jobs whose hints have all arrived. */
  async enqueue(count: number, options: Record<string, unknown> = {}): Promise<void> {
    const requests = Array.from({ length: count }, () => ({
      type: 'mail.send',
      args: [],
      options: { queue: 'mails', ...options },
    }));
    const jobs = await this.waybill.jobs.enqueueMany(requests);
    this.ids.push(...jobs.map(({ id }) => id));
    const hinted = jobs.filter(({ rank }) => rank !== null).length;
    while (this.messages().length < hinted) await new Promise((resolve) => setImmediate(resolve));
  }

  messages(role = 'default', queue = 'mails'): { body: string }[] {
    const found = this.sqs.server.inspectQueue(this.nameOf(role, queue));
    if (!found) return [];
    const { ready, delayed, inflight } = found.messages;
    return [...ready, ...delayed, ...inflight.map(({ message }) => message)];
  }

  nameOf(role = 'default', queue = 'mails'): string {
    return `${this.sqs.prefix}-${queue}-${role}`;
  }

  /** Takes messages away from under the transport, newest last. */
  async steal(count: number, { hideS = 0 } = {}): Promise<string[]> {
    const { client, server } = this.sqs;
    const QueueUrl = server.inspectQueue(this.nameOf())!.url;
    const bodies: string[] = [];
    while (bodies.length < count) {
      const most = Math.min(10, count - bodies.length);
      const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: most, VisibilityTimeout: hideS });
      const { Messages = [] } = await client.send(command);
      for (const { Body, ReceiptHandle } of Messages) {
        bodies.push(Body!);
        if (hideS === 0) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    }
    return bodies;
  }

  claim(call: { leaseMs?: number; queues?: string[]; workerId?: string } = {}): Promise<Lease[]> {
    return this.waybill.jobs.claim({ queues: ['mails'], count: 10, leaseMs: 30_000, ...call });
  }

  async complete({ job, token }: Lease): Promise<void> {
    await this.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: COMPLETED });
    this.effects.set(job.id, (this.effects.get(job.id) ?? 0) + 1);
  }

  /** Lets time pass and the sweep do what has become due. */
  async pass(ms: number): Promise<void> {
    await this.sqs.advance(ms);
    await this.sqs.clock.whenSleeping(LOOPS);
  }

  /** Works until every job is done; answers how much virtual time that took. */
  async recover(longestMs: number): Promise<number> {
    const start = this.sqs.clock.now();
    for (;;) {
      const leases = await this.claim();
      await Promise.all(leases.map((lease) => this.complete(lease)));
      const took = this.sqs.clock.now() - start;
      if (this.effects.size === this.ids.length) return took;
      if (took > longestMs) throw new Error(`${this.ids.length - this.effects.size} jobs did not come back in time.`);
      if (leases.length === 0) await this.pass(STEP_MS);
    }
  }

  /** Hours later: whatever messages were left over have come, and none of them did anything. */
  async settleDown(): Promise<void> {
    for (let hour = 0; hour < 3; hour++) {
      await this.pass(3_600_000);
      for (let leases = await this.claim(); leases.length > 0; leases = await this.claim()) {
        await Promise.all(leases.map((lease) => this.complete(lease)));
      }
    }
  }
}

/** A client whose calls of one kind fail while it is told so. */
export function failing(
  client: Client,
  command: string,
): { client: Client; fault: { isOn: boolean; failures: number } } {
  const fault = { isOn: false, failures: 0 };
  const send = (...args: Parameters<Client['send']>) => {
    if (!fault.isOn || args[0].constructor.name !== command) return client.send(...args);
    fault.failures += 1;
    return Promise.reject(new Error(`${command} fails`));
  };
  return { client: { send } as Client, fault };
}
