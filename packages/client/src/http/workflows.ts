import type { Page, Workflows } from '@waybill/core';
import { type WireWorkflowNode, workflowNodeFromWire } from '../workflow-node-wire.ts';
import { type WireWorkflow, workflowFromWire, workflowInfoFromWire } from '../workflow-wire.ts';
import { path } from './address.ts';
import { type Calls, type Named, refuseWithin } from './calls.ts';

const WORKFLOWS = '/ojs/v1/workflows';
/** They are read page by page where somebody wants them. */
const NO_STEPS = { steps: 'false' };

interface WorkflowAnswer {
  workflow: WireWorkflow;
}

interface WorkflowPage {
  workflows: WireWorkflow[];
  pagination: WirePagination;
}

interface NodePage {
  jobs: WireWorkflowNode[];
  pagination: WirePagination;
}

interface WirePagination {
  cursor?: string;
}

export function workflows(calls: Calls): Workflows {
  const one = async (method: string, where: string, context: Named | undefined, more: object = {}) => {
    const tenant = calls.tenantOf(context);
    const options = { tenant, ...more };
    const { workflow } = await calls.call<WorkflowAnswer>(method, where, options);
    return workflowInfoFromWire(workflow, calls.whose(tenant));
  };
  return {
    create: async (request, context) => {
      refuseWithin(context);
      return one('POST', WORKFLOWS, context, { body: request, query: NO_STEPS });
    },
    get: async (id, context) => one('GET', path`/ojs/v1/workflows/${id}`, context, { query: NO_STEPS }),
    list: async ({ idPrefix, states, limit, cursor, ...context } = {}) => {
      const tenant = calls.tenantOf(context);
      const query = { id_prefix: idPrefix, state: states, limit, cursor };
      const page = await calls.call<WorkflowPage>('GET', WORKFLOWS, { tenant, query });
      const items = page.workflows.map((workflow) => workflowFromWire(workflow, calls.whose(tenant)));
      return pageOf(items, page.pagination);
    },
    nodes: async (id, { limit, cursor, ...context } = {}) => {
      const tenant = calls.tenantOf(context);
      const where = path`/ojs/v1/workflows/${id}/jobs`;
      const { jobs, pagination } = await calls.call<NodePage>('GET', where, { tenant, query: { limit, cursor } });
      const items = jobs.map((node) => workflowNodeFromWire(node, calls.whose(tenant)));
      return pageOf(items, pagination);
    },
    addNodes: async (id, nodes, context) =>
      one('POST', path`/ojs/v1/workflows/${id}/nodes`, context, { body: { nodes } }),
    cancel: async (id, context) => one('DELETE', path`/ojs/v1/workflows/${id}`, context),
    signal: async (id, name, data, { by, ...context } = {}) =>
      one('POST', path`/ojs/v1/workflows/${id}/signal`, context, {
        body: { name, data, ...(by !== undefined && { by }) },
        // The same signal again changes nothing.
        repeatable: true,
      }),
    approve: async (id, node, approval, { by, ...context } = {}) =>
      one('POST', path`/ojs/v1/workflows/${id}/approve`, context, {
        body: { node, ...approval, ...(by !== undefined && { by }) },
        repeatable: true,
      }),
    requestRevision: async (id, node, request, { by, ...context } = {}) =>
      one('POST', path`/ojs/v1/workflows/${id}/request-revision`, context, {
        body: { node, ...request, ...(by !== undefined && { by }) },
      }),
    resume: async (id, { nodes, ...context } = {}) =>
      one('POST', path`/ojs/v1/workflows/${id}/resume`, context, nodes && { body: { nodes } }),
  };
}

const pageOf = <T>(items: T[], { cursor }: WirePagination): Page<T> =>
  cursor === undefined ? { items } : { items, cursor };
