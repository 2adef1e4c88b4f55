import { type CronRecord, isFinished, type Job, type JsonObject, type LoggedEvent, type Waybill } from '@waybill/core';
import { type Cell, isNarrowed, QUEUES, type Scoping, sees } from './cells.ts';

/** All that is stored for a tenant. */
export interface Stored {
  jobs: Job[];
  crons: CronRecord[];
  events: LoggedEvent[];
  rest: unknown;
}

const PAGE = 1_000;

export async function storedFor(waybill: Waybill, tenant: string, limitKeys: readonly string[]): Promise<Stored> {
  const at = { tenant };
  const { jobs, crons, queues, workflows, workers, limits, records, keys, deadLetters, tenants, questions, budgets } =
    waybill;
  const [found, schedules, log, ...rest] = await Promise.all([
    jobs.list({ filter: at, limit: PAGE }),
    crons.list(at),
    logOf(waybill, tenant),
    queues.list(at),
    Promise.all(QUEUES.map((name) => queues.stats(name, at).catch(() => null))),
    workflows.list({ ...at, limit: PAGE }),
    workers.list(at),
    records!.list({ ...at, kind: 'incident', limit: PAGE }),
    records!.list({ ...at, kind: 'task-definition', limit: PAGE }),
    webhooksOf(waybill, tenant),
    budgets.list({ ...at, limit: PAGE }),
    // Unknown as long as it has no queue.
    tenants.get(tenant).catch(() => null),
    deadLetters.stats(at),
    questions.list({ ...at, limit: PAGE }),
    // When a key was used is noted some time after it was.
    keys!.list(at).then((all) => all.map(({ lastUsedAt: _, ...key }) => key)),
    Promise.all(limitKeys.map((key) => limits.get(key, at).catch(() => null))),
  ]);
  if (found.cursor !== undefined) throw new Error('There are more jobs than this looks at.');
  return { jobs: found.items.map(settled), crons: schedules, events: log, rest };
}

/** The sweep looks once more at nodes that have ended, whoever calls meanwhile. */
const settled = (job: Job): Job => (isFinished(job.state) ? { ...job, nextAt: null, advancePending: false } : job);

/** With how far each of them is. */
async function webhooksOf({ records, sinks }: Waybill, tenant: string): Promise<unknown[]> {
  const { items } = await records!.list({ tenant, kind: 'webhook', limit: PAGE });
  return Promise.all(items.map(async (item) => [item, await sinks!.state({ tenant, id: item.id })]));
}

async function logOf({ events }: Waybill, tenant: string): Promise<LoggedEvent[]> {
  const all: LoggedEvent[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await events.read({ filter: { tenant }, limit: PAGE, ...(after !== undefined && { after }) });
    // Where an event lies in the log is not part of it.
    all.push(...page.events.map((event) => ({ ...event, cursor: '' })));
    if (page.atEnd) return all;
    after = page.cursor;
  }
}

/** As text, but for the audit: a call that was refused leaves nothing else behind. */
export const withoutAudit = ({ events, ...stored }: Stored): string =>
  JSON.stringify({ ...stored, events: events.filter(({ type }) => type !== 'audit.recorded') });

/** The part of its own tenant that a narrowed principal must leave as it is; nodes of workflows follow those before them. */
export function outOfReach({ jobs, crons, events }: Stored, scoping: Scoping): string {
  if (!isNarrowed(scoping)) return '';
  const hidden = (cell: Cell) => !sees(scoping, cell);
  const others = jobs.filter((job) => job.workflowId === null && hidden(job));
  const ids = new Set(others.map(({ id }) => id));
  return JSON.stringify([
    others,
    crons.filter(({ tenant, template }) =>
      hidden({ tenant, queue: queueIn(template), type: String(template['type']) }),
    ),
    events.filter(({ jobId }) => jobId !== undefined && ids.has(jobId)),
  ]);
}

const queueIn = (template: JsonObject): string => String((template['options'] as JsonObject | undefined)?.['queue']);
