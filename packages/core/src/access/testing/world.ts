import type { Job } from '../../job/job.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { memoryBlobs } from '../../testing/memory-blobs.ts';
import { memoryTransport } from '../../testing/memory-transport.ts';
import { TestClock } from '../../testing/test-clock.ts';
import { testEngine } from '../../testing/test-engine.ts';
import type { Aside, AsideMessage } from '../../transport/aside.ts';
import type { Lease, Waybill } from '../../waybill.ts';

/** So small that the args of every job lie in the blob store, which makes addresses of them. */
const THRESHOLD = 50;

export const request = (queue = 'mine', type = 'test.job') => ({
  ...{ type, args: ['a text that is longer than the threshold of payloads'], options: { queue } },
});

export const node = (id: string, queue = 'mine', ...depends_on: string[]) => ({ id, depends_on, ...request(queue) });

/** Everything that a port can be asked about, once, in the queue `mine` of the tenant `a`. */
export interface World {
  waybill: Waybill;
  job: Job;
  pending: Job;
  lease: Lease;
  dead: Job;
  flow: string;
  /** A workflow with the node `draft` in review, and one that waits for the signal `paid`. */
  gated: string;
  /** The id of a key of the tenant `a`. */
  key: string;
  /** The id of an open question of the leased job. */
  question: string;
  /** Of tenant `b`, also in the queue `mine`. */
  foreign: Job;
  /** Of tenant `a`, in the queue `other`. */
  other: Job;
  /** All that is stored for the queue `mine` of the tenant `a`. */
  stored(): Promise<string>;
}

export async function makeWorld(): Promise<World> {
  const clock = new TestClock();
  const presign = async (key: string) => `https://blobs.example/${key}`;
  const { waybill } = testEngine({
    ...{ clock, on: memoryStore({ clock }), maintenance: false },
    blobs: { store: { ...memoryBlobs().store, presign }, threshold: THRESHOLD },
    transport: { ...memoryTransport({ clock }), aside: anAside() },
  });
  const { jobs, crons, limits, workflows } = waybill;
  const at = { tenant: 'a' };
  const put = async (queue: string, tenant: string) => (await jobs.enqueue(request(queue), { tenant })).job;
  const claimed = async () => {
    const { id } = await put('mine', 'a');
    const [lease] = await jobs.claim({ ...at, queues: ['mine'], workerId: 'w1' });
    if (lease?.job.id !== id) throw new Error('Another job was claimed.');
    return lease;
  };

  const gates = [
    { ...node('draft'), review: true },
    { id: 'paid', signal: true },
  ];
  const { id: gated } = await workflows.create({ nodes: gates, options: { queue: 'mine' } }, at);
  const [draft] = await jobs.claim({ ...at, queues: ['mine'] });
  await jobs.settle({ ...at, id: draft!.job.id, leaseToken: draft!.token, outcome: { kind: 'completed', result: 1 } });

  const { job: doomed, token } = await claimed();
  const outcome = { kind: 'discarded', error: { code: 'broken', message: 'no' }, deadLetter: true } as const;
  const dead = await jobs.settle({ ...at, id: doomed.id, leaseToken: token, outcome });
  const lease = await claimed();
  await jobs.heartbeat({ ...at, workerId: 'w1', jobs: [] });
  const job = await put('mine', 'a');
  const { job: pending } = await jobs.enqueue({ ...request(), options: { queue: 'mine', pending: true } }, at);
  await crons.put({ name: 'nightly', expression: '@daily', job_template: request() }, at);
  await waybill.records!.put({ kind: 'note', id: 'n1', value: { text: 'mine' }, expected: 0 }, at);
  const ask = { key: 'one', text: 'May I?', choices: ['yes', 'no'] };
  const { id: question } = await jobs.ask({ ...at, id: lease.job.id, leaseToken: lease.token, ...ask });
  const { key } = await waybill.keys!.create({ name: 'one', scopes: ['read'] }, at);
  await waybill.budgets.set({ unit: 'pages', period: 'day', key: 'k', limit: 10 }, at);
  await limits.set('api', { concurrency: 1, rate: null }, at);
  const { id: flow } = await workflows.create({ nodes: [node('one'), node('two', 'mine', 'one')] }, at);
  const [foreign, other] = [await put('mine', 'b'), await put('other', 'a')];

  const stored = async () => {
    const { items } = await jobs.list({ filter: { ...at, queues: ['mine'] }, limit: 100 });
    const queues = (await waybill.queues.list(at)).filter(({ name }) => name === 'mine');
    const flows = (await workflows.list({ ...at, limit: 100 })).items;
    const reports = await Promise.all(items.map(({ id }) => jobs.progress(id, at)));
    const notes = await waybill.records!.list({ ...at, kind: 'note', limit: 100 });
    const lists = [await waybill.questions.list(at), await crons.list(at), await waybill.keys!.list(at)];
    const budgets = await waybill.budgets.list(at);
    return JSON.stringify([items, queues, flows, reports, notes, lists, budgets, await limits.get('api', at)]);
  };
  return { waybill, job, pending, lease, dead, flow, gated, key: key.id, question, foreign, other, stored };
}

/** One message that waits for people, in the queue `mine` of the tenant `a`. */
function anAside(): Aside {
  const message: AsideMessage = {
    ...{ id: 'm1', tenant: 'a', queue: 'mine', place: 'dead', kind: 'foreign', jobId: null, body: '{}', reason: null },
    ...{ sentAt: 0, receipt: 'm1', message: null },
  };
  return {
    queues: ['mine'],
    take: async ({ tenant, queue }) => (tenant === 'a' && queue === 'mine' ? [message] : []),
    putBack: async () => {},
    sendBack: async () => {},
    remove: async () => {},
  };
}
