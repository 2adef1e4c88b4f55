import { isObject } from '@waybill/core';
import type { TraceFields } from '../trace/trace-context.ts';

/** The request with the trace in its meta. A trace of the producer's own stays; what is no request is refused by the engine. */
export function traced<Request>(request: Request, fields: TraceFields | undefined): Request {
  if (fields === undefined || !isObject(request)) return request;
  const { meta } = request;
  if (meta === undefined) return { ...request, meta: { ...fields } };
  if (!isObject(meta) || 'traceparent' in meta) return request;
  return { ...request, meta: { ...meta, ...fields } };
}

const LISTS = ['steps', 'jobs', 'nodes'] as const;

/** Every job of a workflow, its callbacks included, in whatever shape the workflow has. */
export function tracedWorkflow(request: unknown, fields: TraceFields | undefined): unknown {
  if (fields === undefined || !isObject(request)) return request;
  const changed: Record<string, unknown> = { ...request };
  for (const name of LISTS) {
    const list: unknown = request[name];
    if (Array.isArray(list)) changed[name] = tracedNodes(list, fields);
  }
  const { callbacks } = request;
  if (isObject(callbacks)) {
    changed['callbacks'] = Object.fromEntries(
      Object.entries(callbacks).map(([name, callback]) => [name, traced(callback, fields)]),
    );
  }
  return changed;
}

export function tracedNodes(nodes: unknown, fields: TraceFields | undefined): unknown {
  return Array.isArray(nodes) ? nodes.map((node: unknown) => tracedNode(node, fields)) : nodes;
}

/** A chain or a group inside of a larger one, the node of a graph with its job apart, or a job. */
function tracedNode(node: unknown, fields: TraceFields | undefined): unknown {
  if (!isObject(node)) return node;
  const isNested = (node['type'] === 'chain' && 'steps' in node) || (node['type'] === 'group' && 'jobs' in node);
  if (isNested) return tracedWorkflow(node, fields);
  return isObject(node['job']) ? { ...node, job: traced(node['job'], fields) } : traced(node, fields);
}
