import type { WorkerDirective, WorkerInfo } from '@waybill/core';
import type { Input } from './protocol.ts';
import type { Session } from './session.ts';

type WorkerRow = [string, string, number, number, number, string];

export function beat({ sql }: Session, { tenant, id, activeJobs, now }: Input<'beat'>): WorkerDirective {
  const [directive] = sql['worker-beat'].get<[string]>(tenant, id, activeJobs, now)!;
  return directive as WorkerDirective;
}

export function direct({ sql }: Session, { tenant, id, directive }: Input<'direct'>): WorkerInfo | null {
  const row = sql['worker-direct'].get<WorkerRow>(tenant, id, directive);
  return row ? workerOf(row) : null;
}

export function listWorkers({ sql }: Session, tenant: string): WorkerInfo[] {
  return sql['worker-list'].all<WorkerRow>(tenant).map(workerOf);
}

function workerOf([tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive]: WorkerRow): WorkerInfo {
  return { tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive: directive as WorkerDirective };
}
