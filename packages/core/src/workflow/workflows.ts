import { wrongState } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import type { Enqueuer } from '../enqueue/enqueue.ts';
import { checkPlain } from '../enqueue/envelope.ts';
import { WaybillError } from '../errors.ts';
import { workflowMoved, workflowStarted } from '../events/told.ts';
import { newJobId } from '../job/id.ts';
import { checkIdPrefix } from '../job/id-prefix.ts';
import type { Job, JobState } from '../job/job.ts';
import { boundedMoment } from '../job/rank.ts';
import type { JsonObject } from '../json.ts';
import { checkId, checkStates, pageOf } from '../read-query.ts';
import type { Edge, NewJob } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import { WORKFLOW_STATES, type WorkflowRecord, type WorkflowState } from '../store/workflow-record.ts';
import type { WorkflowInfo, WorkflowNode, Workflows } from '../waybill.ts';
import { askedParents, further, makeNode, within } from './add-nodes.ts';
import { Decisions, waitOf } from './decisions.ts';
import { plant } from './plant.ts';
import { checkResumed, planRepair, tolerate } from './resume.ts';
import { maySkip } from './rules.ts';
import { checkWorkflow } from './shape.ts';

const SLICE = 500;

/** Rounds in which others may keep adding the same nodes. */
const MAX_ROUNDS = 20;

interface WorkflowParts {
  store: Store;
  writer: Writer;
  enqueuer: Enqueuer;
  /** Looks at a node and at what stands behind it. Never rejects. */
  advance(job: Job): Promise<void>;
  /** Wakes the sweep at the latest by then. */
  onAlarm(nextAt: number | null): void;
}

/** Graphs of jobs: created whole, looked at, extended, cancelled and repaired. */
export function workflows({ store, writer, enqueuer, advance, onAlarm }: WorkflowParts): Workflows {
  const mustGet = async (tenant: string, id: string): Promise<WorkflowRecord> => {
    checkId(id);
    const record = await store.workflows.get(tenant, id);
    if (record === null) throw workflowNotFound(id);
    return record;
  };

  async function infoOf(record: WorkflowRecord): Promise<WorkflowInfo> {
    const { tenant, id: workflowId, total } = record;
    const countOf = (state: JobState) => store.count({ tenant, workflowId, states: [state] }, { atMost: total });
    const [completed, failed, cancelled] = await Promise.all([
      countOf('completed'),
      countOf('discarded'),
      countOf('cancelled'),
    ]);
    const skipped = record.skips ? await skippedOf(tenant, workflowId) : 0;
    const partialFailure = record.state === 'running' && failed + cancelled > 0;
    return { ...record, completed: completed - skipped, failed, cancelled, skipped, partialFailure };
  }

  /** No index tells them from others that have completed, so they are read where there may be some. */
  async function skippedOf(tenant: string, id: string): Promise<number> {
    let skipped = 0;
    for await (const { outcome } of nodesOf(tenant, id, ['completed'])) if (outcome === 'skipped') skipped += 1;
    return skipped;
  }

  async function create(request: unknown, tenant: string, transaction?: Transaction): Promise<WorkflowInfo> {
    const { nodes, ...shape } = checkWorkflow(request);
    const now = store.clock.now();
    for (const [name, callback] of Object.entries(shape.callbacks))
      within(`callbacks.${name}`, () => checkPlain(callback, now));
    const id = newJobId(now);
    const planted = plant(nodes, (node) => makeNode(enqueuer, node, { tenant, id }), new Map());
    const { timeoutMs } = shape;
    const record: WorkflowRecord = {
      ...{ tenant, id, type: shape.type, name: shape.name, state: 'running', failurePolicy: shape.failurePolicy },
      ...{ callbacks: shape.callbacks as unknown as JsonObject, total: nodes.length, createdAt: now, finishedAt: null },
      ...{ timeoutMs, nextAt: alarmOf(timeoutMs, now), reason: null, skips: maySkip(nodes) },
    };
    const group = { ...planted, jobs: withStart(record, planted.jobs), workflow: { create: record } };
    if (!(await insert(group, transaction))) throw new WaybillError('internal', `Workflow ${id} is not new.`);
    onAlarm(record.nextAt);
    return { ...record, completed: 0, failed: 0, cancelled: 0, skipped: 0, partialFailure: false };
  }

  /** False when another call has added one of these nodes first. */
  async function insert(
    group: { jobs: NewJob[]; edges: Edge[]; workflow: { create: WorkflowRecord } | { join: string } },
    transaction?: Transaction,
  ): Promise<boolean> {
    const answer = await enqueuer.insertFlow(group, transaction);
    if (answer.status === 'inserted') return true;
    if (answer.status === 'closed') throw new WaybillError('conflict', 'Only a running workflow takes new nodes.');
    if (answer.status === 'named') return false;
    const mine = group.jobs[answer.index]!.job;
    if (mine.id === answer.job.id && mine.seq === answer.job.seq) return true;
    if (mine.workflowId === answer.job.workflowId && mine.node === answer.job.node) return false;
    throw new WaybillError('duplicate', `There is already a job ${answer.job.id}.`, {
      details: { existing_job_id: answer.job.id },
    });
  }

  /** Looks again when another call was faster: it may have added other nodes of these names, or the very same. */
  async function addNodes(id: string, list: unknown, tenant: string): Promise<WorkflowInfo> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const record = await mustGet(tenant, id);
      const present = await presentNodes(tenant, id);
      const planted = await further({ store, enqueuer }, { tenant, id, list, ...present, total: record.total });
      // Before the nodes: whoever counts what was skipped must know that there may be some.
      if (planted?.skips && !record.skips && record.state === 'running') await noteSkips(record);
      if (planted === null || (await insert({ ...planted, workflow: { join: id } })))
        return infoOf(await mustGet(tenant, id));
    }
    throw new WaybillError('unavailable', `Others keep adding nodes of these names to workflow ${id}. Try again.`);
  }

  async function presentNodes(tenant: string, workflowId: string) {
    const existing = new Map<string, string>();
    const skippable = new Set<string>();
    for await (const { node, id, spec } of nodesOf(tenant, workflowId)) {
      if (node === null) continue;
      existing.set(node, id);
      if (spec.rules) skippable.add(node);
    }
    return { existing, skippable };
  }

  async function noteSkips({ tenant, id, nextAt, reason }: WorkflowRecord): Promise<void> {
    const beside = { nextAt, reason, skips: true } as const;
    await writer.move({ tenant, id, from: 'running', to: 'running', ...beside, now: store.clock.now(), jobs: [] });
  }

  async function* nodesOf(tenant: string, workflowId: string, states?: readonly JobState[]): AsyncGenerator<Job> {
    let cursor: string | undefined;
    do {
      const filter = { tenant, workflowId, ...(states && { states }) };
      const page = await store.list({ filter, limit: SLICE, ...(cursor !== undefined && { cursor }) });
      yield* page.items;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async function withParents(tenant: string, jobs: readonly Job[]): Promise<WorkflowNode[]> {
    if (jobs.length === 0) return [];
    const families = await store.workflows.parents({ tenant, ids: jobs.map((job) => job.id) });
    // Behind a join many have the same family.
    const names = new Map(
      [...new Set(families)].map((family) => [family, family.map(({ node }) => node).filter((name) => name !== null)]),
    );
    const now = store.clock.now();
    return jobs.map((job, index) => {
      const waiting = waitOf(job, now);
      const dependsOn = askedParents(job, names.get(families[index]!)!);
      return { ...shownNode(job), dependsOn, ...(waiting && { waiting }) };
    });
  }

  async function move(record: WorkflowRecord, from: WorkflowState, to: 'cancelled' | 'running'): Promise<boolean> {
    const { tenant, id } = record;
    const now = store.clock.now();
    const told = workflowMoved(to === 'running' ? 'resumed' : to, record, now);
    const nextAt = to === 'running' ? alarmOf(record.timeoutMs, now) : null;
    const answer = await writer.move({ tenant, id, from, to, nextAt, now, jobs: [], told });
    onAlarm(nextAt);
    return answer.status === 'moved';
  }

  /** The state first: from then on nothing is dispatched. A repeated call goes on where a broken one stopped. */
  async function cancel(id: string, tenant: string): Promise<WorkflowInfo> {
    const record = await mustGet(tenant, id);
    const isMine = record.state === 'cancelled' || (await move(record, 'running', 'cancelled'));
    if (!isMine)
      throw new WaybillError('conflict', `Workflow ${id} is ${record.state}; only a running one can be cancelled.`);
    const told = { by: 'workflow', reason: `workflow ${id} was cancelled` };
    for await (const { id: job } of nodesOf(tenant, id, ['pending', 'scheduled', 'available', 'retryable', 'active'])) {
      await tolerate(
        writer.change({ tenant, id: job }, { do: 'cancel', ...told }, (found) => wrongState(found, 'it has ended')),
      );
    }
    return infoOf(await mustGet(tenant, id));
  }

  /** Dead letters may be kept longer than the rest. Without their parents' results they cannot go on as a workflow. */
  async function refuseRemains({ tenant, id: workflowId, total }: WorkflowRecord): Promise<void> {
    const left = await store.count({ tenant, workflowId }, { atMost: total });
    if (left >= total) return;
    throw new WaybillError(
      'conflict',
      `Workflow ${workflowId} ended too long ago: ${total - left} of its ${total} nodes have been removed.`,
      { hint: 'Replay its dead letters one by one, or create the workflow again.' },
    );
  }

  async function resume(id: string, tenant: string, nodes: unknown): Promise<WorkflowInfo> {
    const names = nodes === undefined ? undefined : checkResumed(nodes);
    const record = await mustGet(tenant, id);
    if (record.state !== 'failed' && record.state !== 'running') {
      throw new WaybillError('conflict', `Workflow ${id} is ${record.state}; only a failed one can be resumed.`);
    }
    if (record.state === 'failed') await refuseRemains(record);
    const repair = await planRepair({ store, writer, nodesOf }, record, names);
    if (record.state === 'failed') await move(record, 'failed', 'running');
    await repair.start();
    const after = await infoOf(await mustGet(tenant, id));
    const { completed, skipped, total } = after;
    const isOver = !(await store.workflows.hasUnfinished(tenant, id)) && completed + skipped < total;
    if (after.state !== 'failed' || isOver) return after;
    // Who had seen no unfinished node has ended it meanwhile: its nodes stand still, or have ended without an effect.
    await move(after, 'failed', 'running');
    await repair.look();
    for await (const job of nodesOf(tenant, id)) {
      await advance(job);
      break;
    }
    return infoOf(await mustGet(tenant, id));
  }

  const decisions = new Decisions({ store, writer, advance, nodesOf });
  /** Answers how the workflow is when the decision counts. */
  const decide = async (id: string, tenant: string, make: (record: WorkflowRecord) => Promise<void>) => {
    await make(await mustGet(tenant, id));
    return infoOf(await mustGet(tenant, id));
  };

  return {
    create: async (request, { tenant = '', within: transaction } = {}) => create(request, tenant, transaction),
    get: async (id, { tenant = '' } = {}) => infoOf(await mustGet(tenant, id)),
    list: async ({ tenant = '', ...query } = {}) => {
      if (query.states !== undefined) checkStates(query.states, WORKFLOW_STATES, 'states');
      if (query.idPrefix !== undefined) checkIdPrefix(query.idPrefix, 'idPrefix');
      return store.workflows.list({ tenant, ...pageOf(query) });
    },
    nodes: async (id, { tenant = '', ...query } = {}) => {
      const asked = pageOf(query);
      await mustGet(tenant, id);
      const page = await store.list({ filter: { tenant, workflowId: id }, ...asked });
      return { ...page, items: await withParents(tenant, page.items) };
    },
    addNodes: (id, nodes, { tenant = '' } = {}) => addNodes(id, nodes, tenant),
    cancel: (id, { tenant = '' } = {}) => cancel(id, tenant),
    signal: (id, name, data, { tenant = '', by } = {}) =>
      decide(id, tenant, (record) => decisions.signal(record, name, data, by)),
    approve: (id, node, approval, { tenant = '', by } = {}) =>
      decide(id, tenant, (record) => decisions.approve(record, node, approval, by)),
    requestRevision: (id, node, request, { tenant = '', by } = {}) =>
      decide(id, tenant, (record) => decisions.requestRevision(record, node, request, by)),
    resume: (id, { tenant = '', nodes } = {}) => resume(id, tenant, nodes),
  };
}

export const workflowNotFound = (id: string): WaybillError =>
  new WaybillError('not_found', `There is no workflow ${id}.`, { details: { workflow_id: id } });

/** What a gate was told so far is no result. */
const shownNode = (job: Job): Job =>
  job.state === 'completed' || job.result === null ? job : { ...job, result: null };

/** From now on: a workflow that is resumed has all its time again. */
const alarmOf = (timeoutMs: number | null, now: number): number | null =>
  timeoutMs === null ? null : boundedMoment(now + timeoutMs, now);

/** Its start is told with the first job, so that a workflow without jobs is never told of. */
function withStart(record: WorkflowRecord, [first, ...others]: readonly NewJob[]): NewJob[] {
  return first ? [{ ...first, events: [...first.events, workflowStarted(record, first.job)] }, ...others] : [];
}
