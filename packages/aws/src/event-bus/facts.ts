import { isObject, type Job, type JsonObject, type Waybill, WaybillError, type WorkflowNode } from '@waybill/core';
import type { RowRole } from './event-types.ts';
import { iterationIn, ReviewedNodes } from './reviewed-nodes.ts';

/** What makes events of the log into events of the bus reads of Waybill. */
export type FactSource = Pick<Waybill, 'jobs' | 'workflows'>;

/** What an event of a job does not say itself. */
export interface TaskFacts {
  /** Within its job, or else the id of the row. */
  taskId: string;
  jobId?: string;
  role: RowRole;
  /** From 1. */
  iteration: number;
  /** The newest run that was seen, when it began, and for how long its lease was granted. */
  run: number;
  startedAt: number | null;
  leaseMs: number | null;
}

/** An event of a job. */
export interface AboutJob {
  tenant: string;
  jobId: string;
  run?: number | undefined;
}

const NO_RUN = { run: 0, startedAt: null, leaseMs: null };

/** Of a row that is gone. */
const unknownFacts = (rowId: string): TaskFacts => ({ taskId: rowId, role: 'plain', iteration: 1, ...NO_RUN });

/** Tasks whose facts are kept, so that a heartbeat costs no read. */
const MOST_KEPT = 2_000;
const PAGE = 1_000;
/** What a run has noted about itself longer ago says nothing about now. */
const VITALS_WITHIN_MS = 60_000;
/** The list of a job's tasks is part of one event, and a job may have thousands. */
export const MOST_TASKS_LISTED = 1_000;

/** Reads the rows that events are about. The row may be further than the event, and may be gone. */
export class Facts {
  readonly #source: FactSource;
  readonly #reviewed: ReviewedNodes;
  readonly #known = new Map<string, TaskFacts>();

  constructor(source: FactSource) {
    this.#source = source;
    this.#reviewed = new ReviewedNodes((tenant, workflowId) => this.#nodesOf(tenant, workflowId));
  }

  /** Null: there is no such row any more. */
  row({ tenant, jobId }: AboutJob): Promise<Job | null> {
    return this.#source.jobs.get(jobId, { tenant }).catch(unlessGone);
  }

  /** As of this run at least, as far as the row has come to it. */
  async task(event: AboutJob): Promise<TaskFacts> {
    const { tenant, jobId, run = 0 } = event;
    const key = `${tenant}\n${jobId}`;
    const known = this.#known.get(key);
    // A gate has no runs, and goes on from one iteration to the next.
    if (known && known.run >= run && known.role !== 'gate') return known;
    const job = await this.row(event);
    if (!job) return known ?? unknownFacts(jobId);
    const facts = await this.#factsOf(job);
    if (this.#known.size >= MOST_KEPT) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, facts);
    return facts;
  }

  /** The newest that the process of a run has noted about itself with a heartbeat; null where it notes nothing. */
  async vitals({ tenant, jobId, run = 0, at }: AboutJob & { at: number }): Promise<JsonObject | null> {
    const asked = { tenant, run, types: ['heartbeat'], fromTime: at - VITALS_WITHIN_MS, limit: PAGE };
    // They are no more than an addition: a journal that cannot be read holds up no event.
    const page = await this.#source.jobs.journal(jobId, asked).catch(() => null);
    const newest = page?.entries.at(-1)?.data;
    return isObject(newest) ? (newest as JsonObject) : null;
  }

  /** The tasks of a job in the order in which they were made; null: there are too many, or the job is gone. */
  async tasksOf(tenant: string, workflowId: string): Promise<WorkflowNode[] | null> {
    const nodes: WorkflowNode[] = [];
    for await (const node of this.#nodesOf(tenant, workflowId)) {
      if (nodes.length >= MOST_TASKS_LISTED) return null;
      nodes.push(node);
    }
    return nodes.length === 0 ? null : nodes.sort((a, b) => a.seq - b.seq);
  }

  /** The row of an iteration; null: it is gone. */
  async iterationOf(tenant: string, workflowId: string, name: string): Promise<WorkflowNode | null> {
    for await (const node of this.#nodesOf(tenant, workflowId)) if (node.node === name) return node;
    return null;
  }

  async *#nodesOf(tenant: string, workflowId: string): AsyncGenerator<WorkflowNode> {
    const { workflows } = this.#source;
    let cursor: string | undefined;
    do {
      const asked = { tenant, limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const page = await workflows.nodes(workflowId, asked).catch(unlessGone);
      if (page === null) return;
      yield* page.items;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async #factsOf(job: Job): Promise<TaskFacts> {
    const { id, tenant, workflowId, node, run, startedAt, visibilityMs, leaseMs, spec } = job;
    const plain = { role: 'plain', iteration: 1, run, startedAt, leaseMs: visibilityMs ?? leaseMs } as const;
    if (workflowId === null) {
      // A producer that has no workflow here may name a job of its own.
      const { jobId } = spec.meta;
      return { ...plain, taskId: id, ...(typeof jobId === 'string' && jobId !== '' && { jobId }) };
    }
    if (spec.rules?.review) return { ...plain, ...gateFacts(job), taskId: node ?? id, jobId: workflowId };
    const part = node === null ? undefined : iterationIn(node);
    if (part && (spec.rules?.revision || (await this.#reviewed.has(tenant, workflowId, part.node))))
      return { ...plain, role: 'iteration', iteration: part.iteration, taskId: part.node, jobId: workflowId };
    return { ...plain, taskId: node ?? id, jobId: workflowId };
  }
}

/** While it is open its row keeps which iteration it waits for. */
function gateFacts({ state, result }: Job): { role: 'gate'; iteration: number } {
  const { iteration } = (state !== 'completed' && isObject(result) ? result : {}) as { iteration?: unknown };
  return { role: 'gate', iteration: typeof iteration === 'number' ? iteration : 1 };
}

/** Also where its payload is gone: the event is told all the same. */
function unlessGone(error: unknown): null {
  if (error instanceof WaybillError && (error.code === 'not_found' || error.code === 'payload_missing')) return null;
  throw error;
}
