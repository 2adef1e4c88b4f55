import { onTestFinished } from 'vitest';
import type { Job } from '../../job/job.ts';
import type { Store } from '../../store/store.ts';
import type { Delivery, Hint, ReceiveRequest, Transport } from '../../transport/transport.ts';
import { settleChange } from '../changes.ts';
import { aJob, type JobOverrides } from '../factories.ts';
import { COMPLETED, newClaimId } from '../store/bench.ts';

/** A transport without messages and the store whose rows its hints tell of. */
export interface TransportUnderTest {
  transport: Transport;
  store: Store;
  /** Lets time pass for messages that are hidden or delayed. Without it, tests about such times are skipped. */
  advance?(ms: number): Promise<void>;
  /** Called when the test is over, whatever came of it. */
  close(): Promise<void>;
}

export type TransportFactory = () => TransportUnderTest | Promise<TransportUnderTest>;

export type OpenTransport = () => Promise<TransportBench>;

export const transportBenchFor =
  (factory: TransportFactory): OpenTransport =>
  async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    return new TransportBench(made);
  };

/** What came with one receive: the jobs that are now held, and the deliveries that brought them, if any did. */
export interface Taken {
  kind: 'claimed' | 'hints';
  jobs: Job[];
  deliveries: Delivery[];
  /** Per delivery what the row said to it. */
  statuses: string[];
}

export const hintFor = ({ tenant, id, queue, type, priority, attempt }: Job, delayMs = 0): Hint => ({
  tenant,
  jobId: id,
  queue,
  type,
  priority,
  attempt,
  delayMs,
});

/** Far more than any test sends. */
const MOST_RECEIVES = 200;

/** Does with a transport what the engine does: row first, then the hint; delivery first, then the row. */
export class TransportBench {
  readonly transport: Transport;
  readonly store: Store;
  readonly advance: ((ms: number) => Promise<void>) | undefined;

  constructor({ transport, store, advance }: TransportUnderTest) {
    this.transport = transport;
    this.store = store;
    this.advance = advance;
  }

  /** Stores a job without telling anybody. */
  async add(overrides: JobOverrides = {}): Promise<Job> {
    const [answer] = await this.store.insert([{ jobs: [aJob({ createdAt: this.store.clock.now(), ...overrides })] }]);
    if (answer?.status !== 'inserted') throw new Error(`Expected a job to be inserted, but: ${answer?.status}.`);
    return answer.jobs[0]!;
  }

  /** Stores a job and tells of it. */
  async enqueue(overrides: JobOverrides = {}): Promise<Job> {
    const job = await this.add(overrides);
    await this.transport.send([hintFor(job)]);
    return job;
  }

  /** Receives once and claims by what came. */
  async take(overrides: Partial<ReceiveRequest> = {}): Promise<Taken> {
    const claim = { claimId: newClaimId(), workerId: 'worker-1', leaseMs: 30_000 };
    const request = { tenant: '', queues: ['default'], max: 10, waitMs: 0, claim, ...overrides };
    const received = await this.transport.receive(request);
    if (received.kind === 'claimed') return { kind: 'claimed', jobs: received.jobs, deliveries: [], statuses: [] };
    const { deliveries } = received;
    const ids = deliveries.map((delivery) => delivery.jobId);
    const lease = { ...request.claim, now: this.store.clock.now() };
    const answers = await this.store.claimById({ tenant: request.tenant, ids, ...lease });
    // Two deliveries of one job in one batch are both answered with it: they share the claim.
    const jobs = new Map(
      answers.flatMap((answer) => (answer.status === 'claimed' ? [[answer.job.id, answer.job]] : [])),
    );
    return { kind: 'hints', jobs: [...jobs.values()], deliveries, statuses: answers.map((answer) => answer.status) };
  }

  /** Receives until nothing comes, as a worker would over time. */
  async takeAll(overrides: Partial<ReceiveRequest> = {}): Promise<Job[]> {
    const jobs: Job[] = [];
    for (let receives = 0; receives < MOST_RECEIVES; receives++) {
      const taken = await this.take(overrides);
      jobs.push(...taken.jobs);
      if (taken.jobs.length + taken.deliveries.length === 0) return jobs;
    }
    throw new Error('The transport delivers the same hints again and again.');
  }

  async complete(job: Job): Promise<void> {
    const [answer] = await this.store.apply([settleChange(job, COMPLETED, this.store.clock.now())]);
    if (answer?.status !== 'applied') throw new Error('Expected the job to be settled, but its lease was lost.');
  }
}
