import { readEach, type UnreadableRow } from '@waybill/core';
import { type WorkflowCells, workflowOf } from '../workflow-rows.ts';
import { type CronCells, cronOf } from './crons.ts';
import { isOfTheFile } from './failures.ts';
import { admit } from './limits.ts';
import type { Input, Output } from './protocol.ts';
import type { Session } from './session.ts';

type Key = [tenant: string, id: string];

/** First lets in what a rate held up, so that it is answered as it is then. */
export function due(session: Session, { now, limit }: Input<'due'>): Output<'due'> {
  const { sql } = session;
  const admitted = readEach(
    sql['limits-due'].all<Key>(now, limit),
    ([tenant, key]) => session.attempt(() => admit(session, tenant, key, now)),
    ([tenant, key]) => ({ kind: 'limit', tenant, id: key }),
    isRowsOwn(session),
  );
  const jobs = readRows(session, {
    kind: 'job',
    all: () => sql.due.all(now, limit),
    keys: () => sql['due-keys'].all<Key>(now, limit),
    one: ([tenant, id]) => sql['job-by-id'].get(tenant, id)!,
  });
  const cells = readRows(session, {
    kind: 'cron',
    all: () => sql['crons-due'].all<CronCells>(now, limit),
    keys: () => sql['crons-due-keys'].all<Key>(now, limit),
    one: ([tenant, name]) => sql['cron-get'].get<CronCells>(tenant, name)!,
  });
  const crons = readEach(cells.read, cronOf, ([tenant, name]) => ({ kind: 'cron', tenant, id: name }));
  const flows = readRows(session, {
    kind: 'workflow',
    all: () => sql['workflows-due'].all<WorkflowCells>(now, limit),
    keys: () => sql['workflows-due-keys'].all<Key>(now, limit),
    one: ([tenant, id]) => sql['workflow-get'].get<WorkflowCells>(tenant, id)!,
  });
  const workflows = readEach(flows.read, workflowOf, ([tenant, id]) => ({ kind: 'workflow', tenant, id }));
  const given = [jobs, cells, flows].map(countOf) as [number, number, number];
  const moments = sql['due-after'].get<(number | null)[]>(...given)!;
  const later = moments.filter((moment) => moment !== null);
  return {
    rows: jobs.read,
    crons: crons.read,
    workflows: workflows.read,
    admitted: admitted.read.flat(),
    unreadable: [admitted, jobs, cells, crons, flows, workflows].flatMap(({ unreadable }) => unreadable),
    nextAt: later.length === 0 ? null : Math.min(...later),
  };
}

interface Read<R> {
  read: R[];
  unreadable: UnreadableRow[];
}

const countOf = ({ read, unreadable }: Read<unknown>): number => read.length + unreadable.length;

interface Source<R> {
  kind: UnreadableRow['kind'];
  all(): R[];
  keys(): Key[];
  one(key: Key): R;
}

/** One number too large for JavaScript fails the whole statement; then the rows are read one by one. */
function readRows<R>(session: Session, { kind, all, keys, one }: Source<R>): Read<R> {
  const isOwn = isRowsOwn(session);
  try {
    return { read: all(), unreadable: [] };
  } catch (error) {
    if (!isOwn(error)) throw error;
    return readEach(keys(), one, ([tenant, id]) => ({ kind, tenant, id }), isOwn);
  }
}

/** A file that is locked, full or broken is no row's fault. */
const isRowsOwn =
  (session: Session) =>
  (error: unknown): boolean =>
    session.isOpen && !isOfTheFile(error);
