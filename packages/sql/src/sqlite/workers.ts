import type { WorkerDirective, WorkerInfo } from '@waybill/core';
import type { Input } from './protocol.ts';
import type { Session } from './session.ts';

type WorkerRow = [string, string, number, number, number, string];

export function beat(session: Session, given: Input<'beat'>): WorkerDirective {
  const { tenant, id, activeJobs, instance = null, now, told } = given;
  const known = session.sql['worker-beat'].get<[string]>(tenant, id, activeJobs, now, instance);
  if (known) return known[0] as WorkerDirective;
  session.sql['worker-enter'].run(tenant, id, activeJobs, now, instance);
  if (told) session.tell(told);
  return 'running';
}

export function direct(session: Session, { tenant, id, directive, told }: Input<'direct'>): WorkerInfo | null {
  const before = session.sql['worker-directive'].get<[string]>(tenant, id);
  if (!before) return null;
  if (told && before[0] !== directive) session.tell(told);
  return workerOf(session.sql['worker-direct'].get<WorkerRow>(tenant, id, directive)!);
}

export function listWorkers({ sql }: Session, tenant: string): WorkerInfo[] {
  return sql['worker-list'].all<WorkerRow>(tenant).map(workerOf);
}

function workerOf([tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive]: WorkerRow): WorkerInfo {
  return { tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive: directive as WorkerDirective };
}
