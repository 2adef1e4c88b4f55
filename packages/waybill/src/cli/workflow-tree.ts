import type { Job } from '@waybill/core';
import type { Context } from './context.ts';
import { span } from './spans.ts';
import { clipped, oneLine } from './table.ts';

interface Branch {
  name: string;
  /** Absent for a chain or group inside of another, which is no job of its own. */
  job?: Job;
  branches: Branch[];
}

interface Line {
  left: string;
  job?: Job;
}

/**
 * Chains and groups name their nodes by place (`1.0` is inside of `1`), so the names are the tree. The nodes of other
 * graphs may be named anything, and what they depend on is not told: they are listed as they started.
 */
export function treeOf(jobs: readonly Job[], type: string, context: Context): string {
  const isNested = type === 'chain' || type === 'group' || type === 'batch';
  const root: Branch = { name: '', branches: [] };
  for (const job of isNested ? jobs : [...jobs].sort(byStart)) {
    // Callbacks carry the workflow's id but are none of its nodes.
    if (job.node !== null) plant(root, isNested ? job.node.split('.') : [job.node], job);
  }
  const lines = linesOf(root.branches, '', isNested);
  const widths = [
    (line: Line) => line.left.length,
    ({ job }: Line) => job?.type.length ?? 0,
    ({ job }: Line) => job?.state.length ?? 0,
  ].map((width) => Math.max(0, ...lines.map(width)));
  return lines.map((line) => `${textOf(line, widths, context)}\n`).join('');
}

const byStart = (a: Job, b: Job): number =>
  (a.startedAt ?? Number.POSITIVE_INFINITY) - (b.startedAt ?? Number.POSITIVE_INFINITY) ||
  (a.node ?? '').localeCompare(b.node ?? '');

function plant(root: Branch, path: readonly string[], job: Job): void {
  let at = root;
  for (const [depth] of path.entries()) {
    const name = path.slice(0, depth + 1).join('.');
    let next = at.branches.find((branch) => branch.name === name);
    if (next === undefined) {
      next = { name, branches: [] };
      at.branches.push(next);
    }
    at = next;
  }
  at.job = job;
}

function linesOf(branches: readonly Branch[], indent: string, isNested: boolean): Line[] {
  const ordered = isNested ? [...branches].sort((a, b) => placeOf(a) - placeOf(b)) : branches;
  return ordered.flatMap(({ name, job, branches: below }, index) => {
    const isLast = index === ordered.length - 1;
    const line = { left: `${indent}${isLast ? '└─' : '├─'} ${oneLine(name)}`, ...(job && { job }) };
    return [line, ...linesOf(below, `${indent}${isLast ? '   ' : '│  '}`, isNested)];
  });
}

const placeOf = ({ name }: Branch): number => Number(name.slice(name.lastIndexOf('.') + 1));

function textOf(
  { left, job }: Line,
  [leftWidth = 0, typeWidth = 0, stateWidth = 0]: readonly number[],
  { style, io }: Context,
): string {
  if (job === undefined) return left;
  const { startedAt, finishedAt, state } = job;
  const ended = state === 'active' ? io.now() : finishedAt;
  const took = startedAt === null || ended === null ? '' : span(ended - startedAt);
  const error = state === 'discarded' ? clipped(oneLine(job.errors.at(-1)?.message ?? ''), 60) : '';
  const parts = [
    left.padEnd(leftWidth),
    job.type.padEnd(typeWidth),
    style.state(state.padEnd(stateWidth)),
    took,
    error,
  ];
  return parts.join('  ').trimEnd();
}
