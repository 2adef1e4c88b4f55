import { isOpen, reviewOf } from '../job/gate.ts';
import { isFinished, type Job } from '../job/job.ts';
import type { Store } from '../store/store.ts';
import type { ParentResult } from '../store/workflows.ts';
import { conditionText } from '../workflow/condition-text.ts';
import { isItemOf } from '../workflow/item-names.ts';
import { type Reason, type RelatedJob, relatedJob } from './explanation.ts';
import { SWEEP_HINT } from './running.ts';
import { type Family, MOST_NAMED, type Situation, timeOf } from './situation.ts';

/** What a pending job waits for: its producer, or the nodes before it. */
export const workflow: Family = {
  what: 'Its workflow',
  of: async ({ job, store, now }) => {
    const { state, workflowId, tenant, id } = job;
    if (state !== 'pending') return [];
    if (workflowId === null) return [held(job)];
    const record = await store.workflows.get(tenant, workflowId);
    if (record === null || record.state !== 'running' || record.reason !== null)
      return [
        {
          code: 'workflow_ended',
          message: `Its workflow ${record === null ? 'is gone' : `is ${record.reason ?? record.state}`}, so no further node of it starts.`,
          ...(record?.state === 'failed' && { hint: `waybill workflows resume ${workflowId}` }),
          details: { workflow_id: workflowId, ...(record && { state: record.state }) },
        },
      ];
    const [family = []] = await store.workflows.parents({ tenant, ids: [id] });
    return family.length === 0 ? [held(job)] : ofNode({ store, now }, job, family);
  },
};

const held = ({ id, createdAt }: Job): Reason => ({
  code: 'pending',
  message: `It is held since ${timeOf(createdAt)} until its producer lets it start.`,
  hint: `To let it start: POST /ojs/v1/jobs/${id}/activate, or jobs.activate() of the SDK`,
  details: {},
});

async function ofNode(
  { store, now }: Pick<Situation, 'store' | 'now'>,
  job: Job,
  family: readonly ParentResult[],
): Promise<Reason[]> {
  const { node, spec } = job;
  const { when, map } = spec.rules ?? {};
  const isItem = (one: ParentResult): boolean => one.node !== null && node !== null && isItemOf(one.node, node);
  const items = map ? family.filter(isItem) : [];
  const open = (items.length > 0 ? items : family).filter(({ state }) => state !== 'completed');
  const jobs = await shown(store, job.tenant, open);
  if (items.length > 0 && open.length > 0)
    return [
      {
        code: 'map',
        message: `${open.length} of the ${items.length} jobs of this map have not completed.`,
        hint: HINT,
        details: { items: items.length, open: open.length },
        jobs,
      },
    ];
  if (open.length === 0 && isOpen(job, now)) return [gateReason(job)];
  if (open.length === 0)
    return [
      {
        code: 'undecided',
        message: 'All nodes before it have completed, and the engine has not decided about it yet.',
        hint: SWEEP_HINT,
        details: {},
      },
    ];
  const failed = open.filter(({ state }) => isFinished(state)).length;
  const lost = failed === 0 ? '' : ` ${failed} of them can no longer complete, so this node will be cancelled.`;
  return [
    {
      code: 'parents',
      message: `${open.length} of the ${family.length} nodes before it ${open.length === 1 ? 'has' : 'have'} not completed.${lost}`,
      hint: HINT,
      details: { parents: family.length, open: open.length, failed },
      jobs,
    },
    ...(when ? [condition(conditionText(when))] : []),
    ...(map ? [spread(map.over.parent, map.over.path)] : []),
  ];
}

/** It waits for what comes from outside. */
function gateReason(job: Job): Reason {
  const { workflowId, node, timeoutAt } = job;
  const until = timeoutAt === null ? {} : { until: timeOf(timeoutAt) };
  const atMost = timeoutAt === null ? '' : ` It fails at ${timeOf(timeoutAt)} without.`;
  if (job.spec.rules?.signal)
    return {
      code: 'signal',
      message: `It waits for the signal '${node}'.${atMost}`,
      hint: `waybill workflows signal ${workflowId} ${node}`,
      details: { signal: node, ...until },
    };
  const { iteration } = reviewOf(job);
  return {
    code: 'review',
    message: `Iteration ${iteration} of '${node}' waits for its review.${atMost}`,
    hint: `waybill workflows approve ${workflowId} ${node}`,
    details: { node, iteration, ...until },
  };
}

const HINT = 'To see why one of them does not run: waybill explain ID';

const condition = (text: string): Reason => ({
  code: 'condition',
  message: `When they have, its condition decides whether it runs: ${text}.`,
  details: { condition: text },
});

const spread = (parent: string, path: string | undefined): Reason => ({
  code: 'map',
  message: `Then it makes one job of each item of a list: ${path === undefined ? parent : `${parent}.${path}`}.`,
  details: { over: { parent, ...(path !== undefined && { path }) } },
});

/** The rows of the first ones; those that are gone say what the workflow knows of them. */
async function shown(store: Store, tenant: string, open: readonly ParentResult[]): Promise<RelatedJob[]> {
  const first = open.slice(0, MOST_NAMED);
  const rows = first.length === 0 ? [] : await store.get(first.map(({ id }) => ({ tenant, id })));
  return rows.filter((row) => row !== null).map(relatedJob);
}
