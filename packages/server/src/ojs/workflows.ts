import { type WireWorkflowWithSteps, workflowNodeToWire, workflowToWire, workflowWithSteps } from '@waybill/client';
import {
  checkIdPrefix,
  type Fields,
  invalidField,
  type Json,
  MAX_FEEDBACK,
  MAX_ITERATIONS,
  WaybillError,
  WORKFLOW_STATES,
  type WorkflowInfo,
  type WorkflowNode,
  type Workflows,
} from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readObject, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import { MAX_LIMIT, Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { PAGE_PARAMETERS, pageAsked, pageBehind, pagination } from './pagination.ts';

const DEFAULT_LIMIT = 50;
const MAX_ADDED = 10_000;

const idIn = (c: Ctx): string => pathId(c, 'workflow');

/** Graphs of jobs. */
export function workflowRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.post('/ojs/v1/workflows', async (c) => {
    // The engine checks the graph and every job in it.
    const tellsSteps = wantsSteps(c);
    const { workflows } = portOf(c);
    const made = await workflows.create(await readObject(c, maxBodyBytes));
    c.header('Location', `/ojs/v1/workflows/${made.id}`);
    const workflow = tellsSteps ? await ifAllowed(withSteps(workflows, made)) : undefined;
    return answer(c, { workflow: workflow ?? workflowToWire(made) }, 201);
  });

  app.get('/ojs/v1/workflows', async (c) => {
    const query = new Query(c, ['id_prefix', 'state', ...PAGE_PARAMETERS]);
    const states = query.listOf('state', WORKFLOW_STATES);
    const idPrefix = query.joined('id_prefix');
    const narrowed = {
      ...(idPrefix !== undefined && { idPrefix: checkIdPrefix(idPrefix, 'id_prefix') }),
      ...(states && { states }),
    };
    const asked = pageAsked(query, DEFAULT_LIMIT);
    const { workflows } = portOf(c);
    const { items, cursor } = await pageBehind((page) => workflows.list({ ...page, ...narrowed }), asked);
    const { limit, offset } = asked;
    return answer(c, { workflows: items.map(workflowToWire), pagination: pagination(limit, cursor, { offset }) });
  });

  app.get('/ojs/v1/workflows/:id', async (c) => {
    const id = idIn(c);
    const tellsSteps = wantsSteps(c);
    const { workflows } = portOf(c);
    const found = await workflows.get(id);
    return answer(c, { workflow: tellsSteps ? await withSteps(workflows, found) : workflowToWire(found) });
  });

  app.delete('/ojs/v1/workflows/:id', async (c) => {
    const workflow = await portOf(c).workflows.cancel(idIn(c));
    const wire = workflowToWire(workflow);
    const counts = { steps_cancelled: workflow.cancelled, steps_already_completed: workflow.completed };
    return answer(c, { workflow: { ...wire, cancelled_at: wire.completed_at, ...counts } });
  });

  app.get('/ojs/v1/workflows/:id/jobs', async (c) => {
    const id = idIn(c);
    const page = new Query(c, ['limit', 'cursor']).page(DEFAULT_LIMIT);
    const { items, cursor } = await portOf(c).workflows.nodes(id, page);
    return answer(c, { jobs: items.map(workflowNodeToWire), pagination: pagination(page.limit, cursor) });
  });

  app.post('/ojs/v1/workflows/:id/nodes', async (c) => {
    const id = idIn(c);
    const nodes = nodesOf(await readBody(c, maxBodyBytes));
    return answer(c, { workflow: workflowToWire(await portOf(c).workflows.addNodes(id, nodes)) });
  });

  app.post('/ojs/v1/workflows/:id/signal', async (c) => {
    const id = idIn(c);
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(['name', 'data', 'by']);
    const name = body.requiredString('name');
    const workflow = await portOf(c).workflows.signal(id, name, body.value('data') ?? null, byIn(body));
    return answer(c, { workflow: workflowToWire(workflow) });
  });

  app.post('/ojs/v1/workflows/:id/approve', async (c) => {
    const id = idIn(c);
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(['node', 'comment', 'iteration', 'by']);
    const comment = body.string('comment', { max: MAX_FEEDBACK });
    const approval = { ...iterationIn(body), ...(comment !== undefined && { comment }) };
    const { workflows } = portOf(c);
    const workflow = await workflows.approve(id, body.requiredString('node'), approval, byIn(body));
    return answer(c, { workflow: workflowToWire(workflow) });
  });

  app.post('/ojs/v1/workflows/:id/request-revision', async (c) => {
    const id = idIn(c);
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(['node', 'feedback', 'iteration', 'by']);
    const request = { feedback: body.requiredString('feedback', { max: MAX_FEEDBACK }), ...iterationIn(body) };
    const { workflows } = portOf(c);
    const workflow = await workflows.requestRevision(id, body.requiredString('node'), request, byIn(body));
    return answer(c, { workflow: workflowToWire(workflow) });
  });

  app.post('/ojs/v1/workflows/:id/resume', async (c) => {
    const id = idIn(c);
    const body = await readOptionalBody(c, maxBodyBytes);
    body.refuseUnknown(['nodes']);
    const nodes = body.strings('nodes', { max: MAX_ADDED });
    return answer(c, { workflow: workflowToWire(await portOf(c).workflows.resume(id, nodes && { nodes })) });
  });
}

/** A workflow has up to ten thousand steps, and not everybody wants them. */
const wantsSteps = (c: Ctx): boolean => new Query(c, ['steps']).oneOf('steps', ['true', 'false']) !== 'false';

async function withSteps(workflows: Workflows, workflow: WorkflowInfo): Promise<WireWorkflowWithSteps> {
  const nodes: WorkflowNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await workflows.nodes(workflow.id, { limit: MAX_LIMIT, ...(cursor !== undefined && { cursor }) });
    nodes.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  // They come newest first.
  return workflowWithSteps(workflow, nodes.reverse());
}

/** Whoever may make a workflow need not have the right to read its jobs. */
async function ifAllowed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof WaybillError && error.code === 'forbidden') return undefined;
    throw error;
  }
}

function byIn(body: Fields): { by?: string } {
  const by = body.string('by', { max: 256 });
  return by === undefined ? {} : { by };
}

function iterationIn(body: Fields): { iteration?: number } {
  const iteration = body.integer('iteration', { min: 1, max: MAX_ITERATIONS });
  return iteration === undefined ? {} : { iteration };
}

function nodesOf(body: Fields): Json[] {
  const nodes = body.array('nodes', { max: MAX_ADDED });
  if (nodes === undefined || nodes.length === 0) throw invalidField('nodes', 'must be an array of at least one node.');
  return nodes;
}
