import type { WorkflowNode } from '@waybill/core';

/** A line of the tree with what hangs below it. */
export interface Branch {
  name: string;
  /** Absent for a chain or group inside of another, which is no job of its own. */
  job?: WorkflowNode;
  /** Names of nodes that it waits for and that are not the one it hangs from. */
  after: string[];
  branches: Branch[];
}

/** Beyond this a tree is wider than any screen; what is deeper stands side by side. */
const DEEPEST = 24;
const PLACE = /^\d+(\.\d+)*$/;

/**
 * Chains and groups name their nodes by place (`1.0` is inside of `1`), so the names are the tree, unless others were
 * added later. Everything else is a tree by what waits for what.
 */
export function branchesOf(nodes: readonly WorkflowNode[], type: string): Branch[] {
  const isNested = type !== 'dag' && nodes.every(({ node }) => PLACE.test(node!));
  return isNested ? byPlace(nodes) : byParents(nodes);
}

function byPlace(nodes: readonly WorkflowNode[]): Branch[] {
  const root: Branch = { name: '', after: [], branches: [] };
  const known = new Map([['', root]]);
  const at = (name: string): Branch => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const made: Branch = { name, after: [], branches: [] };
    known.set(name, made);
    at(name.slice(0, Math.max(0, name.lastIndexOf('.')))).branches.push(made);
    return made;
  };
  for (const job of nodes) at(job.node!).job = job;
  for (const { branches } of known.values()) branches.sort((a, b) => placeOf(a) - placeOf(b));
  return root.branches;
}

const placeOf = ({ name }: Branch): number => Number(name.slice(name.lastIndexOf('.') + 1));

/**
 * Each node once: below the last of those that it waits for, so that all of them stand above it. There are no circles,
 * so every node's turn comes.
 */
function byParents(all: readonly WorkflowNode[]): Branch[] {
  // Pages are read one after the other, and retention may take a node away in between.
  const known = new Set(all.map(({ node }) => node));
  const nodes = all.map((job) => ({ ...job, dependsOn: job.dependsOn.filter((name) => known.has(name)) }));
  const open = new Map(nodes.map(({ node, dependsOn }) => [node!, dependsOn.length]));
  const children = Map.groupBy(
    nodes.flatMap((child) => child.dependsOn.map((parent) => ({ parent, child }))),
    ({ parent }) => parent,
  );
  const inOrder = (found: readonly WorkflowNode[]): WorkflowNode[] => [...found].sort(byStart).reverse();
  const roots: Branch[] = [];
  const next = inOrder(nodes.filter(({ dependsOn }) => dependsOn.length === 0)).map((job) => ({
    ...{ job, into: roots, below: '', depth: 1 },
  }));
  for (let turn = next.pop(); turn !== undefined; turn = next.pop()) {
    const { job, into, below, depth } = turn;
    const after = job.dependsOn.filter((name) => name !== below);
    const branch: Branch = { name: job.node!, job, after, branches: [] };
    into.push(branch);
    const free = (children.get(branch.name) ?? [])
      .map(({ child }) => child)
      .filter((child) => {
        const left = open.get(child.node!)! - 1;
        open.set(child.node!, left);
        return left === 0;
      });
    const isDeep = depth >= DEEPEST;
    const place = isDeep ? { into, below: '', depth } : { into: branch.branches, below: branch.name, depth: depth + 1 };
    next.push(...inOrder(free).map((child) => ({ job: child, ...place })));
  }
  return roots;
}

const byStart = (a: WorkflowNode, b: WorkflowNode): number => startOf(a) - startOf(b) || (a.node! < b.node! ? -1 : 1);

/** Those that have not started come last; a difference of two infinities would order nothing. */
const startOf = ({ startedAt }: WorkflowNode): number => startedAt ?? Number.MAX_SAFE_INTEGER;
