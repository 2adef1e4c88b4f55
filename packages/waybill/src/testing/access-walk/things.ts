import {
  type JobRequest,
  newJobId,
  newKeyId,
  systemClock,
  TokenSigner,
  type Waybill,
  withSignedLeases,
} from '@waybill/core';
import { vi } from 'vitest';
import { type Cell, markOf, QUEUES, typeMarkOf, wholeMarkOf } from './cells.ts';

/** Before all others, so that a claim takes the job that was just made. */
const FIRST = 100;
const PATIENCE = { interval: 1, timeout: 20_000 };
const ERROR = { code: 'broken', message: 'no' };

export interface Held {
  id: string;
  token: string;
}

/** Everything that a route can be asked about. Each call makes a new one. */
export interface Things {
  readonly cell: Cell;
  /** A body that anybody may send, about the queue and the type of the cell. */
  request(): JobRequest;
  job(): Promise<string>;
  pending(): Promise<string>;
  held(): Promise<Held>;
  dead(): Promise<string>;
  /** An open one. */
  question(): Promise<string>;
  flow(): Promise<string>;
  failedFlow(): Promise<string>;
  /** Waits for the signal 'paid'. */
  waitingFlow(): Promise<string>;
  /** Its node 'draft' waits for its review. */
  reviewedFlow(): Promise<string>;
  /** Of a task; its name. */
  definition(): Promise<string>;
  cron(): Promise<string>;
  worker(): Promise<string>;
  limit(): Promise<string>;
  record(): Promise<string>;
  /** Of a key: those of a tenant as a whole only operators change. */
  budget(): Promise<string>;
  hook(): Promise<string>;
  key(): Promise<string>;
  /** Its name. */
  tenant(): Promise<string>;
}

/** The end of an id that no question has. */
const NO_QUESTION = '000000000000';

let made = 0;

const requestIn = ({ queue, type }: Cell, mark: string, options: object = {}): JobRequest => ({
  ...{ type, args: [mark], meta: { mark }, options: { queue, retry: { max_attempts: 1 }, ...options } },
});

/** Without a mark: what comes of it belongs to whoever sends it. */
const SENT = 'sent';

/** Things that are there, in a cell. */
export function thingsIn(waybill: Waybill, cell: Cell): Things {
  const { workflows, crons, limits, records, keys, budgets } = waybill;
  // As the servers of the walk do, whose callers show keys.
  const signer = new TokenSigner(keys!.taskTokens!, systemClock);
  const { jobs } = withSignedLeases(waybill, signer);
  const { tenant, queue } = cell;
  const at = { tenant };
  const mark = markOf(cell);
  const marked = (options: object = {}) => requestIn(cell, mark, options);
  const named = (whose: string) => `${whose}-${++made}`;
  const enqueued = async (options: object) => (await jobs.enqueue(marked(options), at)).job.id;
  const claimed = async (id: string): Promise<Held> => {
    for (;;) {
      const [lease] = await jobs.claim({ ...at, queues: [queue], workerId: 'claims' });
      // A queue that was paused or is full gives out nothing: then nobody holds the job.
      if (lease === undefined)
        return { id, token: await signer.seal({ tenant, jobId: id, queue, lease: `1.${newJobId(Date.now())}` }) };
      if (lease.job.id === id) return { id, token: lease.token };
    }
  };
  const held = async () => claimed(await enqueued({ priority: FIRST }));
  const discard = async ({ id, token: leaseToken }: Held) => {
    const outcome = { kind: 'discarded', error: { ...ERROR, message: mark }, deadLetter: true } as const;
    await jobs.settle({ ...at, id, leaseToken, outcome }).catch(() => {});
    return id;
  };
  /** Once the engine has seen that it waits, nothing changes by itself. */
  const atRest = async (flow: string, name: string) => {
    const { items } = await workflows.nodes(flow, at);
    const { id } = items.find(({ node }) => node === name)!;
    await vi.waitFor(async () => {
      const { startedAt, advancePending } = await jobs.get(id, at);
      if (startedAt === null || advancePending) throw new Error(`The node '${name}' does not wait yet.`);
    }, PATIENCE);
  };
  const nodeIn = (one: string) => ({
    id: `in-${one}`,
    ...requestIn({ ...cell, queue: one }, markOf({ ...cell, queue: one })),
  });
  return {
    ...{ cell, held, request: () => requestIn(cell, SENT) },
    job: () => enqueued({}),
    pending: () => enqueued({ pending: true }),
    dead: async () => discard(await held()),
    question: async () => {
      const { id, token: leaseToken } = await held();
      const asked = jobs.ask({ ...at, id, leaseToken, key: 'one', text: mark, choices: ['yes', 'no'] });
      return asked.then(
        (question) => question.id,
        () => `${id}.${NO_QUESTION}`,
      );
    },
    // Of both queues, so that it belongs to no principal that is narrowed to one of them.
    flow: async () => {
      const steps = QUEUES.map((one) => requestIn({ ...cell, queue: one }, markOf({ ...cell, queue: one })));
      return (await workflows.create({ type: 'chain', name: typeMarkOf(cell), steps }, at)).id;
    },
    failedFlow: async () => {
      const steps = [marked({ priority: FIRST })];
      const { id } = await workflows.create({ type: 'chain', name: mark, steps }, at);
      const { items } = await workflows.nodes(id, at);
      await discard(await claimed(items[0]!.id));
      return id;
    },
    waitingFlow: async () => {
      const nodes = [{ id: 'paid', signal: true }, ...QUEUES.map(nodeIn)];
      const { id } = await workflows.create({ name: typeMarkOf(cell), nodes, options: { queue } }, at);
      await atRest(id, 'paid');
      return id;
    },
    reviewedFlow: async () => {
      const nodes = [{ id: 'draft', review: true, ...marked({ priority: FIRST }) }];
      const { id } = await workflows.create({ name: mark, nodes }, at);
      const { items } = await workflows.nodes(id, at);
      const { id: draft, token: leaseToken } = await claimed(items.find(({ node }) => node === 'draft[1]')!.id);
      const outcome = { kind: 'completed', result: { mark } } as const;
      const isSettled = await jobs.settle({ ...at, id: draft, leaseToken, outcome }).catch(() => undefined);
      if (isSettled) await atRest(id, 'draft');
      return id;
    },
    definition: async () => {
      const name = named('definition');
      const value = { type: cell.type, queue, told: { description: mark } };
      await records!.put({ kind: 'task-definition', id: name, value, expected: 0 }, at);
      return name;
    },
    cron: async () => {
      // Without a mark: what a request names may come back, and no more than that.
      const name = named('cron');
      await crons.put({ name, expression: '@yearly', description: mark, job_template: marked() }, at);
      return name;
    },
    worker: async () => {
      const workerId = named(wholeMarkOf(tenant));
      await jobs.heartbeat({ ...at, workerId, jobs: [] });
      return workerId;
    },
    limit: async () => {
      const key = named(wholeMarkOf(tenant));
      await limits.set(key, { concurrency: 3, rate: null }, at);
      return key;
    },
    record: async () => {
      const id = named(wholeMarkOf(tenant));
      const value = { title: wholeMarkOf(tenant), severity: 'high', status: 'open' };
      await records!.put({ kind: 'incident', id, value, expected: 0 }, at);
      return id;
    },
    budget: async () => {
      const key = named(wholeMarkOf(tenant));
      return (await budgets.set({ unit: 'pages', period: 'day', limit: 5, key }, at)).id;
    },
    hook: async () => {
      const [id, description] = [named(wholeMarkOf(tenant)), wholeMarkOf(tenant)];
      const secrets = [{ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }];
      const value = { url: 'http://127.0.0.1:1/hook', events: ['*'], description, secrets, paused: false };
      await records!.put({ kind: 'webhook', id, value, expected: 0 }, at);
      return id;
    },
    key: async () => (await keys!.create({ name: wholeMarkOf(tenant), scopes: ['read'] }, at)).key.id,
    // One without a queue is not there.
    tenant: async () => {
      await enqueued({});
      return tenant;
    },
  };
}

/** Names and ids that nothing has. */
export function noThings(cell: Cell): Things {
  const id = async () => newJobId(Date.now());
  const name = async () => `nothing-${++made}`;
  return {
    ...{ cell, request: () => requestIn(cell, SENT) },
    ...{
      job: id,
      pending: id,
      dead: id,
      question: async () => `${await id()}.${NO_QUESTION}`,
      flow: id,
      failedFlow: id,
      waitingFlow: id,
      reviewedFlow: id,
      definition: name,
      cron: name,
      worker: name,
      limit: name,
      record: name,
      budget: async () => `pages:day:${await name()}`,
      hook: name,
      key: async () => newKeyId(),
      tenant: name,
    },
    held: async () => ({ id: await id(), token: `1.${await id()}` }),
  };
}
