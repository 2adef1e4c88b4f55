import type { WorkflowNode } from '@waybill/core';

/** Jobs whose nodes are known. */
const MOST_JOBS = 500;

/** The node that `name[n]` is a part of: an iteration of a reviewed node, or an item of a map. */
export function iterationIn(name: string): { node: string; iteration: number } | undefined {
  const found = /^(.+)\[(\d+)\]$/s.exec(name);
  return found ? { node: found[1]!, iteration: Number(found[2]) } : undefined;
}

/**
 * Which nodes of jobs are reviewed. The first iteration of one has a name like an item of a map, so the node itself must
 * be looked at. A job is read once for each node that is not known yet.
 */
export class ReviewedNodes {
  readonly #read: (tenant: string, workflowId: string) => AsyncIterable<WorkflowNode>;
  /** By job; by node whether it is reviewed. */
  readonly #known = new Map<string, Map<string, boolean>>();

  constructor(read: (tenant: string, workflowId: string) => AsyncIterable<WorkflowNode>) {
    this.#read = read;
  }

  async has(tenant: string, workflowId: string, node: string): Promise<boolean> {
    const key = `${tenant}\n${workflowId}`;
    const known = this.#known.get(key)?.get(node);
    if (known !== undefined) return known;
    const found = new Map<string, boolean>();
    for await (const one of this.#read(tenant, workflowId))
      if (one.node !== null && one.spec.rules) found.set(one.node, one.spec.rules.review !== undefined);
    if (this.#known.size >= MOST_JOBS) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, found);
    return found.get(node) ?? false;
  }
}
