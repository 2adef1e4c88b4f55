import type { LoggedEvent } from '../../events/job-event.ts';
import { PAUSED_ON_REQUEST, type SinkState } from '../../sinks/sink.ts';
import { STATE_KIND, stateIn } from '../../sinks/sink-states.ts';
import { ALL_TENANTS, type EventLog } from '../../store/event-log.ts';
import { type StoredRecord, SYSTEM_TENANT } from '../../store/records.ts';
import type { Finding } from '../checks-port.ts';
import type { Levels } from '../health-options.ts';
import { alarmAfter, inWords, type TenantCheck } from './check.ts';

/** A sink of the configuration that was not run for this long has left the configuration. */
const LEFT_AFTER_MS = 86_400_000;
/** Pages of the log without an event of the tenant that are looked through for one sink. */
const MOST_PAGES = 20;

/** Webhooks and other sinks that are behind the log, or that were given up. */
export const sinkLag = (log: Pick<EventLog, 'read'>): TenantCheck => ({
  name: 'sink-lag',
  run: async (view, { sinkLag: levels }) => {
    const { tenant, now } = view;
    const { items, isCut } = await view.sinkStates(STATE_KIND);
    const isRun = ({ updatedAt }: StoredRecord) => tenant !== SYSTEM_TENANT || now - updatedAt <= LEFT_AFTER_MS;
    const findings: Omit<Finding, 'check'>[] = [];
    let unknown = 0;
    for (const record of items.filter(isRun)) {
      try {
        const found = await findingOf(log, record, { now, levels });
        if (found) findings.push(found);
      } catch {
        // A place that the log does not know any more, for one: the others are looked at all the same.
        unknown += 1;
      }
    }
    return { findings, isCut: isCut || unknown > 0 };
  },
});

async function findingOf(
  log: Pick<EventLog, 'read'>,
  record: StoredRecord,
  { now, levels }: { now: number; levels: Levels },
): Promise<Omit<Finding, 'check'> | null> {
  const { id, tenant } = record;
  const state = stateIn(record);
  const subject = tenant === SYSTEM_TENANT ? `server-sink:${id}` : `sink:${id}`;
  if (state.status === 'paused') {
    if (state.pausedReason === PAUSED_ON_REQUEST) return null;
    const title = `Sink '${id}' is paused. ${state.pausedReason ?? ''}`.trim();
    return { subject, severity: 'critical', title, facts: { status: 'paused', failures: state.failures } };
  }
  const lagMs = await lagOf(log, tenant, state, now);
  const severity = alarmAfter(lagMs, levels);
  if (severity === null) return null;
  const why = state.failingSince === null ? '' : ` ${state.lastError ?? ''}`.trimEnd();
  const title = `Sink '${id}' is ${inWords(lagMs)} behind.${why}`;
  return { subject, severity, title, facts: { lag_ms: lagMs, failures: state.failures } };
}

/** A sink that nothing is for keeps up with the log too, and notes its place once a minute. */
async function lagOf(
  log: Pick<EventLog, 'read'>,
  tenant: string,
  { cursor, failingSince }: SinkState,
  now: number,
): Promise<number> {
  const filter = { tenant: tenant === SYSTEM_TENANT ? ALL_TENANTS : tenant };
  let [after, next] = [cursor, undefined as LoggedEvent | undefined];
  for (let pages = 0; pages < MOST_PAGES && next === undefined; pages += 1) {
    const page = await log.read({ filter, limit: 1, ...(after !== null && { after }) });
    [after, next] = [page.cursor, page.events[0]];
    if (page.atEnd) break;
  }
  return now - Math.min(now, failingSince ?? now, next?.at ?? now);
}
