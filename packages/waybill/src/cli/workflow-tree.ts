import { mapOf, type WorkflowNode } from '@waybill/core';
import type { Context } from './context.ts';
import { span } from './spans.ts';
import { clipped, oneLine, padded, widthOf } from './text-width.ts';
import { type Branch, branchesOf } from './workflow-branches.ts';
import { rulesOf } from './workflow-rules.ts';

/** How much of the width names, types and states may take. */
const SHARES = [0.4, 0.25, 1] as const;

interface Line {
  left: string;
  branch: Branch;
}

/** The nodes of a workflow as a tree. Callbacks carry the workflow's id but are none of its nodes. */
export function treeOf(jobs: readonly WorkflowNode[], type: string, context: Context): string {
  const nodes = belowMaps(jobs.filter(({ node }) => node !== null));
  const lines = linesOf(branchesOf(nodes, type), '');
  const widths = [
    (line: Line) => widthOf(line.left),
    ({ branch: { job } }: Line) => job?.type.length ?? 0,
    ({ branch: { job } }: Line) => (job === undefined ? 0 : shownState(job).length),
  ].map((width, index) => {
    const widest = lines.reduce((most, line) => Math.max(most, width(line)), 0);
    return Math.min(widest, context.width * SHARES[index]!);
  });
  return lines.map((line) => `${clipped(textOf(line, widths, context), context.width)}\n`).join('');
}

/** A node that was skipped has completed, and did not run; one that waits from outside is pending. */
export function shownState({ state, outcome, waiting }: WorkflowNode): string {
  if (outcome === 'skipped') return outcome;
  if (waiting === undefined) return state;
  return waiting.for === 'review' ? 'in review' : 'waiting';
}

/** How long its run has taken, where it has begun. */
export function tookOf({ state, startedAt, finishedAt }: WorkflowNode, now: number): string[] {
  const ended = state === 'active' ? now : finishedAt;
  return startedAt === null || ended === null ? [] : [span(ended - startedAt)];
}

/** The jobs that a map has made hang below it. */
function belowMaps(nodes: readonly WorkflowNode[]): WorkflowNode[] {
  const names = new Set(nodes.filter(({ spec }) => spec.rules?.map).map(({ node }) => node));
  return nodes.map((job) => {
    const map = mapOf(job.node!);
    return map !== undefined && names.has(map) && job.dependsOn.length === 0 ? { ...job, dependsOn: [map] } : job;
  });
}

function linesOf(branches: readonly Branch[], indent: string): Line[] {
  return branches.flatMap((branch, index) => {
    const isLast = index === branches.length - 1;
    const line = { left: `${indent}${isLast ? '└─' : '├─'} ${oneLine(branch.name)}`, branch };
    return [line, ...linesOf(branch.branches, `${indent}${isLast ? '   ' : '│  '}`)];
  });
}

function textOf(
  { left, branch: { job, after } }: Line,
  [leftWidth = 0, typeWidth = 0, stateWidth = 0]: readonly number[],
  { style, io }: Context,
): string {
  if (job === undefined) return left;
  const { state } = job;
  const took = tookOf(job, io.now());
  const error = state === 'discarded' ? [oneLine(job.errors.at(-1)?.message ?? '')] : [];
  const word = after.length < job.dependsOn.length ? 'also after' : 'after';
  const waitsFor = after.length === 0 ? [] : [style.dim(`${word} ${after.join(', ')}`)];
  const cell = (text: string, width: number) => padded(clipped(text, Math.floor(width)), Math.floor(width));
  const parts = [cell(left, leftWidth), cell(job.type, typeWidth), style.state(shownState(job).padEnd(stateWidth))];
  const rules = rulesOf(job).map((rule) => style.dim(rule));
  return [...parts, ...took, ...waitsFor, ...rules, ...error].join('  ').trimEnd();
}
