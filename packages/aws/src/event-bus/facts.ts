import { isObject, type Job, type JsonObject, type Waybill, WaybillError, type WorkflowNode } from '@waybill/core';

/** What makes events of the log into events of the bus reads of Waybill. */
export type FactSource = Pick<Waybill, 'jobs' | 'workflows'>;

/** What an event of a job does not say itself, and never changes. */
export interface TaskFacts {
  /** Within its job, or else the id of the row. */
  taskId: string;
  jobId?: string;
  /** When the row was made. */
  bornAt: number;
  /** The newest run that was seen, and when it began. */
  run: number;
  startedAt: number | null;
}

/** An event of a job. */
interface AboutJob {
  tenant: string;
  jobId: string;
  run?: number | undefined;
}

/** Of a row that is gone. */
const unknownFacts = (rowId: string): TaskFacts => ({ taskId: rowId, bornAt: 0, run: 0, startedAt: null });

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
  readonly #known = new Map<string, TaskFacts>();

  constructor(source: FactSource) {
    this.#source = source;
  }

  /** Null: there is no such row any more. */
  async row({ tenant, jobId }: AboutJob): Promise<Job | null> {
    const job = await this.#source.jobs.get(jobId, { tenant }).catch(unlessGone);
    if (job) this.#keep(keyOf(tenant, jobId), factsOf(job));
    return job;
  }

  /** As of this run at least, as far as the row has come to it. */
  async task({ tenant, jobId, run = 0 }: AboutJob): Promise<TaskFacts> {
    const known = this.#known.get(keyOf(tenant, jobId));
    if (known && known.run >= run) return known;
    const job = await this.row({ tenant, jobId });
    return job ? factsOf(job) : (known ?? unknownFacts(jobId));
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
    const { workflows } = this.#source;
    const nodes: WorkflowNode[] = [];
    let cursor: string | undefined;
    do {
      const asked = { tenant, limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const page = await workflows.nodes(workflowId, asked).catch(unlessGone);
      if (page === null) return null;
      nodes.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined && nodes.length <= MOST_TASKS_LISTED);
    return nodes.length > MOST_TASKS_LISTED ? null : nodes.sort((a, b) => a.seq - b.seq);
  }

  #keep(key: string, facts: TaskFacts): void {
    if (this.#known.size >= MOST_KEPT) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, facts);
  }
}

const keyOf = (tenant: string, jobId: string): string => `${tenant}\n${jobId}`;

/** A producer that has no workflow here may name a job of its own. */
function factsOf({ id, workflowId, node, createdAt: bornAt, run, startedAt, spec: { meta } }: Job): TaskFacts {
  if (workflowId !== null) return { taskId: node ?? id, jobId: workflowId, bornAt, run, startedAt };
  const { jobId } = meta;
  return { taskId: id, bornAt, run, startedAt, ...(typeof jobId === 'string' && jobId !== '' && { jobId }) };
}

/** Also where its payload is gone: the event is told all the same. */
function unlessGone(error: unknown): null {
  if (error instanceof WaybillError && (error.code === 'not_found' || error.code === 'payload_missing')) return null;
  throw error;
}
