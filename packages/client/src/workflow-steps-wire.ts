import type { Job, JobState, Json, WorkflowInfo, WorkflowNode } from '@waybill/core';
import { present } from './present.ts';
import { rulesToWire, type WireRules } from './rules-wire.ts';
import { toRfc3339 } from './time.ts';
import { type WireWorkflow, workflowToWire } from './workflow-wire.ts';

/** One step of a workflow, in the words of the specification's HTTP binding. */
export interface WireWorkflowStep {
  /** Its name in the workflow. */
  id: string;
  /** Its place in a chain. */
  index?: number;
  type: string;
  state: JobState;
  job_id: string;
  /** Absent where `depends_on_omitted` says so. */
  depends_on?: string[];
  started_at?: string;
  completed_at?: string;
  rules?: WireRules;
  /** It did not run, because its condition was false. */
  outcome?: 'skipped';
  result?: Json;
}

/** Why a step did not complete. */
export interface WireWorkflowError {
  job_id: string;
  step_id: string;
  type: string;
  code: string;
  message: string;
}

export interface WireWorkflowWithSteps extends WireWorkflow {
  /** In the order in which they were defined. */
  steps: WireWorkflowStep[];
  /** True where the names of all dependencies together are too many for one answer; each job has its own. */
  depends_on_omitted?: boolean;
  /** True where the results together are too large for one answer; each is with its job. */
  results_omitted?: boolean;
  failed_job_ids?: string[];
  failed_step_index?: number;
  errors?: WireWorkflowError[];
}

/** Results in one answer, in characters of JSON. */
const MOST_RESULTS = 1024 * 1024;

/** Names of dependencies in one answer: two groups of a chain have as many as the product of their sizes. */
const MOST_DEPENDENCIES = 50_000;

/** `nodes` in the order in which they were defined; callbacks among them have no name and are no steps. */
export function workflowWithSteps(workflow: WorkflowInfo, nodes: readonly WorkflowNode[]): WireWorkflowWithSteps {
  const isChain = workflow.type === 'chain';
  const named = nodes.filter((node) => node.node !== null);
  // Their ids may be the producer's own, and then say nothing of the order.
  const steps = isChain ? named.sort((a, b) => byPlace(a.node!, b.node!)) : named;
  const tellsResults = sizeOf(steps) <= MOST_RESULTS;
  const tellsDependencies = steps.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0) <= MOST_DEPENDENCIES;
  const failed = steps.filter(({ state }) => state === 'discarded');
  const started = steps.flatMap(({ startedAt }) => startedAt ?? []);
  const { metadata, ...wire } = workflowToWire(workflow);
  return {
    ...wire,
    metadata: {
      ...metadata,
      ...present('started_at', started.length === 0 ? null : toRfc3339(started.reduce((a, b) => Math.min(a, b)))),
    },
    steps: steps.map((node, index) => stepOf(node, isChain ? index : undefined, { tellsResults, tellsDependencies })),
    ...present('depends_on_omitted', tellsDependencies ? undefined : true),
    ...present('results_omitted', tellsResults ? undefined : true),
    ...(failed.length > 0 && {
      failed_job_ids: failed.map(({ id }) => id),
      ...(isChain && { failed_step_index: steps.indexOf(failed[0]!) }),
      errors: failed.map(errorOf),
    }),
  };
}

/** The names of a chain's steps are their places, `1.0` for the first of a group that is the second step. */
const byPlace = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

interface Telling {
  tellsResults: boolean;
  tellsDependencies: boolean;
}

function stepOf(node: WorkflowNode, index: number | undefined, telling: Telling): WireWorkflowStep {
  return {
    id: node.node!,
    ...present('index', index),
    type: node.type,
    state: node.state,
    job_id: node.id,
    ...(telling.tellsDependencies && { depends_on: node.dependsOn }),
    ...present('started_at', node.startedAt === null ? null : toRfc3339(node.startedAt)),
    ...present('completed_at', node.finishedAt === null ? null : toRfc3339(node.finishedAt)),
    ...present('rules', rulesToWire(node.spec.rules)),
    ...present('outcome', node.outcome === 'skipped' ? node.outcome : undefined),
    ...(telling.tellsResults && present('result', node.result)),
  };
}

function sizeOf(steps: readonly Job[]): number {
  let size = 0;
  for (const { result } of steps) {
    size += result === null ? 0 : JSON.stringify(result).length;
    if (size > MOST_RESULTS) break;
  }
  return size;
}

function errorOf({ id, node, errors }: Job): WireWorkflowError {
  const last = errors.at(-1) ?? { code: 'discarded', message: 'The step ended without an error of its own.' };
  const type = ('type' in last ? last.type : undefined) ?? last.code;
  return { job_id: id, step_id: node!, type, code: last.code, message: last.message };
}
