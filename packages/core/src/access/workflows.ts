import { Fields } from '../check.ts';
import { destinationOf } from '../enqueue/envelope.ts';
import type { Json } from '../json.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import type { Waybill, WorkflowInfo, Workflows } from '../waybill.ts';
import { checkWorkflow, MAX_NODES, readNode } from '../workflow/shape.ts';
import { workflowNotFound } from '../workflow/workflows.ts';
import type { Caller } from './caller.ts';

const SLICE = 1_000;
/** Workflows of a list that are judged at once. */
const ABREAST = 20;

/**
 * Whoever may enqueue may also cancel and send signals; resuming is repair and takes `admin`, as for dead letters, and a
 * review is for people, as an answer to a question is. A workflow belongs to a narrowed principal only when all its jobs do,
 * its callbacks included: to know that, they are read. What waits for a signal is no job of anybody's.
 */
export function scopedWorkflows({ workflows, jobs }: Waybill, caller: Caller): Workflows {
  const check = (request: unknown): void => caller.needDestination(destinationOf(request));

  async function isMine({ tenant, id: workflowId, callbacks }: WorkflowRecord): Promise<boolean> {
    if (!Object.values(callbacks).every((callback) => caller.sees(destinationOf(callback)))) return false;
    let cursor: string | undefined;
    let found = 0;
    do {
      const filter = { tenant, workflowId };
      const page = await jobs.list({ filter, limit: SLICE, overBytes: 0, ...(cursor !== undefined && { cursor }) });
      const worked = page.items.filter(({ spec }) => !spec.rules?.signal);
      if (!worked.every((job) => caller.sees(job))) return false;
      found += worked.length;
      cursor = page.cursor;
    } while (cursor !== undefined);
    // Of one whose jobs are gone it is not known whose it was.
    return found > 0;
  }

  async function mustGet(id: string, tenant: string): Promise<WorkflowInfo> {
    const workflow = await workflows.get(id, { tenant });
    if (caller.isNarrowed && !(await isMine(workflow))) throw workflowNotFound(id);
    return workflow;
  }

  const mustSee = async (id: string, tenant: string): Promise<void> => {
    if (caller.isNarrowed) await mustGet(id, tenant);
  };

  async function mineOf(records: readonly WorkflowRecord[]): Promise<WorkflowRecord[]> {
    const mine: WorkflowRecord[] = [];
    for (let from = 0; from < records.length; from += ABREAST) {
      const some = records.slice(from, from + ABREAST);
      const verdicts = await Promise.all(some.map(isMine));
      mine.push(...some.filter((_, index) => verdicts[index]));
    }
    return mine;
  }

  return {
    create: async (request, context) => {
      const tenant = caller.enter('enqueue', context);
      if (caller.isNarrowed) {
        const { nodes, callbacks } = checkWorkflow(request);
        for (const node of nodes) if (!node.rules?.signal) check(node.request);
        Object.values(callbacks).forEach(check);
      }
      return workflows.create(request, { ...context, tenant });
    },
    get: async (id, context) => mustGet(id, caller.enter('read', context)),
    list: async (query) => {
      const tenant = caller.enter('read', query);
      const page = await workflows.list({ ...query, tenant });
      return caller.isNarrowed ? { ...page, items: await mineOf(page.items) } : page;
    },
    nodes: async (id, query) => {
      const tenant = caller.enter('read', query);
      await mustSee(id, tenant);
      return workflows.nodes(id, { ...query, tenant });
    },
    addNodes: async (id, nodes, context) => {
      const tenant = caller.enter('enqueue', context);
      if (caller.isNarrowed) requestsIn(nodes).forEach(check);
      await mustSee(id, tenant);
      return workflows.addNodes(id, nodes, { tenant });
    },
    cancel: async (id, context) => {
      const tenant = caller.enter('enqueue', context);
      await mustSee(id, tenant);
      return workflows.cancel(id, { tenant });
    },
    signal: async (id, name, data, context) => {
      const tenant = caller.enter('enqueue', context);
      await mustSee(id, tenant);
      return workflows.signal(id, name, data, { ...context, ...caller.by, tenant });
    },
    approve: async (id, node, approval, context) => {
      const tenant = caller.enter('admin', context);
      await mustSee(id, tenant);
      return workflows.approve(id, node, approval, { ...context, ...caller.by, tenant });
    },
    requestRevision: async (id, node, request, context) => {
      const tenant = caller.enter('admin', context);
      await mustSee(id, tenant);
      return workflows.requestRevision(id, node, request, { ...context, ...caller.by, tenant });
    },
    resume: async (id, context) => {
      const tenant = caller.enter('admin', context);
      await mustSee(id, tenant);
      return workflows.resume(id, { ...context, tenant });
    },
  };
}

function requestsIn(nodes: unknown): unknown[] {
  const list = new Fields({ nodes: nodes as Json }).array('nodes', { max: MAX_NODES }) ?? [];
  const read = list.map((node, index) => readNode(node, `nodes[${index}]`));
  return read.filter(({ rules }) => !rules?.signal).map(({ request }) => request);
}
