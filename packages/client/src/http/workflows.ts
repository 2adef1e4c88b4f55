import type { Page, WorkflowInfo, Workflows } from '@waybill/core';
import { type WireWorkflowNode, workflowNodeFromWire } from '../workflow-node-wire.ts';
import { type WireWorkflow, workflowFromWire, workflowInfoFromWire } from '../workflow-wire.ts';
import { path } from './address.ts';
import { type Calls, refuseTenant, refuseWithin } from './calls.ts';

const WORKFLOWS = '/ojs/v1/workflows';

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
  const infoOf = async (answer: Promise<WorkflowAnswer>): Promise<WorkflowInfo> =>
    workflowInfoFromWire((await answer).workflow);
  return {
    create: async (request, context) => {
      refuseTenant(context);
      refuseWithin(context);
      return infoOf(calls.call('POST', WORKFLOWS, { body: request }));
    },
    get: async (id, context) => {
      refuseTenant(context);
      return infoOf(calls.call('GET', path`/ojs/v1/workflows/${id}`));
    },
    list: async ({ states, limit, cursor, ...context }) => {
      refuseTenant(context);
      const page = await calls.call<WorkflowPage>('GET', WORKFLOWS, { query: { state: states, limit, cursor } });
      return pageOf(page.workflows.map(workflowFromWire), page.pagination);
    },
    nodes: async (id, { limit, cursor, ...context }) => {
      refuseTenant(context);
      const call = calls.call<NodePage>('GET', path`/ojs/v1/workflows/${id}/jobs`, { query: { limit, cursor } });
      const { jobs, pagination } = await call;
      return pageOf(jobs.map(workflowNodeFromWire), pagination);
    },
    addNodes: async (id, nodes, context) => {
      refuseTenant(context);
      return infoOf(calls.call('POST', path`/ojs/v1/workflows/${id}/nodes`, { body: { nodes } }));
    },
    cancel: async (id, context) => {
      refuseTenant(context);
      return infoOf(calls.call('DELETE', path`/ojs/v1/workflows/${id}`));
    },
    resume: async (id, context) => {
      refuseTenant(context);
      return infoOf(calls.call('POST', path`/ojs/v1/workflows/${id}/resume`));
    },
  };
}

const pageOf = <T>(items: T[], { cursor }: WirePagination): Page<T> =>
  cursor === undefined ? { items } : { items, cursor };
