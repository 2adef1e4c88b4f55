import { workflowNodeToWire, workflowToWire } from '@waybill/client';
import { type Fields, invalidField, type Json, WORKFLOW_STATES } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readObject, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { pagination } from './pagination.ts';

const DEFAULT_LIMIT = 50;
const MAX_ADDED = 10_000;

const idIn = (c: Ctx): string => pathId(c, 'workflow');

/** Graphs of jobs. */
export function workflowRoutes(app: App, { maxBodyBytes }: Surface): void {
  app.post('/ojs/v1/workflows', async (c) => {
    // The engine checks the graph and every job in it.
    const { workflows } = portOf(c);
    const workflow = workflowToWire(await workflows.create(await readObject(c, maxBodyBytes)));
    c.header('Location', `/ojs/v1/workflows/${workflow.id}`);
    return answer(c, { workflow }, 201);
  });

  app.get('/ojs/v1/workflows', async (c) => {
    const query = new Query(c, ['state', 'limit', 'cursor']);
    const states = query.listOf('state', WORKFLOW_STATES);
    const page = query.page(DEFAULT_LIMIT);
    const { items, cursor } = await portOf(c).workflows.list({ ...page, ...(states && { states }) });
    return answer(c, { workflows: items.map(workflowToWire), pagination: pagination(page.limit, cursor) });
  });

  app.get('/ojs/v1/workflows/:id', async (c) =>
    answer(c, { workflow: workflowToWire(await portOf(c).workflows.get(idIn(c))) }),
  );

  app.delete('/ojs/v1/workflows/:id', async (c) =>
    answer(c, { workflow: workflowToWire(await portOf(c).workflows.cancel(idIn(c))) }),
  );

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

  app.post('/ojs/v1/workflows/:id/resume', async (c) => {
    const id = idIn(c);
    await readOptionalBody(c, maxBodyBytes);
    return answer(c, { workflow: workflowToWire(await portOf(c).workflows.resume(id)) });
  });
}

function nodesOf(body: Fields): Json[] {
  const nodes = body.array('nodes', { max: MAX_ADDED });
  if (nodes === undefined || nodes.length === 0) throw invalidField('nodes', 'must be an array of at least one node.');
  return nodes;
}
