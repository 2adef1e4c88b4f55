import {
  type Clock,
  engine,
  type Job,
  type LimitInfo,
  type LoggedEvent,
  silentLogger,
  systemClock,
  type Waybill,
} from '@waybill/core';
import { openStore } from 'waybill';
import { LIMITS } from '../actors/order.ts';
import type { Evidence, WorkflowSeen } from './evidence.ts';

const PAGE = 500;

/** What the store says at the end, when nobody writes any more. */
export async function readStore(
  url: string,
  orphanedAfterMs: number,
): Promise<Pick<Evidence, 'jobs' | 'log' | 'workflows' | 'limits'>> {
  const clock: Clock = { ...systemClock, now: () => Date.now() + orphanedAfterMs };
  const store = await openStore(url, { logger: silentLogger, clock });
  const waybill = engine({ store, maintenance: false, logger: silentLogger });
  try {
    return {
      jobs: await readJobs(waybill),
      log: await readLog(waybill),
      workflows: await readWorkflows(waybill),
      limits: await readLimits(waybill),
    };
  } finally {
    await waybill.close();
  }
}

async function readJobs(waybill: Waybill): Promise<Map<string, Job>> {
  const jobs = new Map<string, Job>();
  for (let cursor: string | undefined; ; ) {
    const page = await waybill.jobs.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const job of page.items) jobs.set(job.id, job);
    cursor = page.cursor;
    if (cursor === undefined) return jobs;
  }
}

async function readLog(waybill: Waybill): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = [];
  for (let after: string | undefined; ; ) {
    const page = await waybill.events.read({ limit: PAGE, ...(after !== undefined && { after }) });
    log.push(...page.events);
    if (page.atEnd) return log;
    after = page.cursor;
  }
}

async function readWorkflows(waybill: Waybill): Promise<WorkflowSeen[]> {
  const seen: WorkflowSeen[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await waybill.workflows.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const { id, name, state } of page.items) seen.push({ id, name, state, nodes: await readNodes(waybill, id) });
    cursor = page.cursor;
    if (cursor === undefined) return seen;
  }
}

/** They are small, so all nodes fit into one page. */
async function readNodes(waybill: Waybill, workflow: string): Promise<WorkflowSeen['nodes']> {
  const { items } = await waybill.workflows.nodes(workflow, { limit: PAGE });
  return items.map(({ id, node, dependsOn }) => ({ id, node, dependsOn }));
}

/** Those of which no job has come yet are not known. */
async function readLimits(waybill: Waybill): Promise<LimitInfo[]> {
  const found = await Promise.allSettled(Object.keys(LIMITS).map((key) => waybill.limits.get(key)));
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}
