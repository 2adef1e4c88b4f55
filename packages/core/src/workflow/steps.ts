import { GroupCommit } from '../commit/group-commit.ts';
import type { SubjectEvent } from '../events/subject-event.ts';
import { stepCompleted } from '../events/told.ts';
import { isFinished, JOB_STATES, type Job } from '../job/job.ts';
import type { JobKey } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';

/** Steps that are still to come are counted up to here only. */
const STEPS_COUNTED = 1_000;

const UNFINISHED = JOB_STATES.filter((state) => !isFinished(state));

interface Standing {
  workflow: WorkflowRecord;
  unfinished: number;
}

/**
 * What the log says of a node that completes. It is asked for before the node is settled and written with it, so that the
 * last step of a workflow is told before the workflow's end. Nodes that are settled at the same time ask once.
 */
export class Steps {
  readonly #store: Store;
  readonly #standings: GroupCommit<JobKey, Standing | null>;

  constructor(store: Store) {
    this.#store = store;
    const { maxBatch: maxItems, parallelFlushes: parallel } = store.capabilities;
    this.#standings = new GroupCommit({ flush: (keys) => this.#read(keys), maxItems, parallel });
  }

  /** Null: it is no node, or has not completed, or its workflow is gone. */
  async eventOf({ tenant, workflowId, node, state, ...job }: Job): Promise<SubjectEvent | null> {
    if (workflowId === null || node === null || state !== 'completed') return null;
    const standing = await this.#standings.run({ tenant, id: workflowId });
    if (standing === null) return null;
    // It counts as unfinished until it is written.
    const remaining = Math.max(0, standing.unfinished - 1);
    return stepCompleted(standing.workflow, { tenant, workflowId, node, state, ...job }, remaining);
  }

  idle(): Promise<void> {
    return this.#standings.idle();
  }

  async #read(keys: readonly JobKey[]): Promise<(Standing | null)[]> {
    // One read for each workflow, which all its nodes wait for: a read that nobody waits for would fail unheard.
    const byName = new Map<string, Promise<Standing | null>>();
    const standings = keys.map((key) => {
      const name = `${key.tenant}\n${key.id}`;
      const known = byName.get(name) ?? this.#readOne(key);
      byName.set(name, known);
      return known;
    });
    return Promise.all(standings);
  }

  async #readOne({ tenant, id }: JobKey): Promise<Standing | null> {
    const [workflow, unfinished] = await Promise.all([
      this.#store.workflows.get(tenant, id),
      this.#store.count({ tenant, workflowId: id, states: UNFINISHED }, { atMost: STEPS_COUNTED }),
    ]);
    return workflow && { workflow, unfinished };
  }
}
