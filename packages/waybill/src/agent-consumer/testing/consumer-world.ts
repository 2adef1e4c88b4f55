import { sqsTransport } from '@waybill/aws/sqs';
import { engine, type Job, type Lease, type Outcome, silentLogger, type Transport, type Waybill } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { onTestFinished, vi } from 'vitest';
import { agentConsumer } from '../preset.ts';
import { readSettings } from '../settings.ts';
import { adoptTaskMessages, QUEUE } from '../task-message.ts';
import type { MessageQueue } from './message-queue.ts';

const TASK = { name: 'agent.task' };

/** Of the preset; what is not set has its default. */
export type Env = Readonly<Record<string, string>>;

export interface WorldMessage {
  requestId: string;
  body: Record<string, unknown>;
}

/** The engine of the preset in virtual time. A producer delivers messages, and workers claim what they become. */
export abstract class ConsumerWorld {
  readonly clock: TestClock;
  readonly waybill: Waybill;
  /** Of the default of the preset. */
  readonly leaseMs = readSettings({}).leaseMs;
  #delivered = 0;

  constructor(clock: TestClock, transport?: Transport) {
    this.clock = clock;
    vi.setSystemTime(clock.now());
    const store = memoryStore({ clock });
    this.waybill = engine({ store, ...(transport && { transport }), logger: silentLogger });
    onTestFinished(() => this.waybill.close());
  }

  /** A message arrives: the first time, or again. */
  abstract deliver(message: WorldMessage): Promise<void>;

  /** Messages that are left, seen or hidden; 0 where there are none. */
  abstract readonly messages: number;

  nextId(): string {
    this.#delivered += 1;
    return `message-${this.#delivered}`;
  }

  async claim(workerId: string): Promise<Lease[]> {
    return this.waybill.jobs.claim({ queues: [QUEUE], count: 3, workerId, leaseMs: this.leaseMs });
  }

  /** Whether the lease still held. */
  async heartbeat({ job, token }: Lease, workerId: string): Promise<boolean> {
    const jobs = [{ id: job.id, leaseToken: token }];
    return (await this.waybill.jobs.heartbeat({ workerId, jobs })).extended.length === 1;
  }

  async settle({ job, token }: Lease, outcome: Outcome): Promise<Job> {
    return this.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  }

  /** Lets time pass, for us and for the messages, and the sweep do what has become due. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      vi.setSystemTime(this.clock.now() + Math.min(left, 1_000));
      await this.clock.advance(Math.min(left, 1_000));
      await this.clock.whenSleeping(2);
    }
  }

  async jobs(): Promise<readonly Job[]> {
    return (await this.waybill.jobs.list({ filter: { queues: [QUEUE] }, limit: 100 })).items;
  }
}

/** A producer that enqueues in the store; it names each request, so that a message which comes again is the same job. */
export class PollWorld extends ConsumerWorld {
  readonly messages = 0;

  readonly #env: Env;

  constructor(env: Env) {
    super(new TestClock());
    this.#env = env;
  }

  async deliver({ requestId, body }: WorldMessage): Promise<void> {
    const adopted = adoptTaskMessages(TASK, readSettings(this.#env))(body, { requestId }, this.nextId());
    if (adopted === null || 'reason' in adopted) throw new Error('Every message becomes a job.');
    await this.waybill.jobs.enqueue(adopted.request, { idempotencyKey: adopted.id });
  }
}

/** A producer that sends messages to SQS. */
export class SqsWorld extends ConsumerWorld {
  readonly #queue: MessageQueue;

  private constructor(queue: MessageQueue, clock: TestClock, transport: Transport) {
    super(clock, transport);
    this.#queue = queue;
  }

  static async open(queue: MessageQueue, env: Env): Promise<SqsWorld> {
    const options = agentConsumer({ ...env, SQS_QUEUE_URL: queue.url }).sqsFor([TASK as never]);
    const clock = new TestClock();
    const transport = await sqsTransport({ ...options, client: queue.client, clock, logger: silentLogger });
    return new SqsWorld(queue, clock, transport);
  }

  get messages(): number {
    const { visible, held } = this.#queue.messages;
    return visible + held;
  }

  async deliver(message: WorldMessage): Promise<void> {
    await this.#queue.send(message);
  }
}
