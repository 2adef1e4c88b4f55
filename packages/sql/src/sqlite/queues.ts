import type { QueueInfo } from '@waybill/core';
import type { Session } from './session.ts';

export function isPaused({ sql }: Session, tenant: string, name: string): boolean {
  return sql['queue-is-paused'].get(tenant, name) !== undefined;
}

export function listQueues({ sql }: Session, tenant: string): QueueInfo[] {
  const rows = sql['queue-list'].all<[string, number]>(tenant);
  return rows.map(([name, paused]) => ({ tenant, name, paused: paused === 1 }));
}

export function setPaused(session: Session, { tenant, name, paused }: QueueInfo): QueueInfo {
  session.sql[paused ? 'queue-pause' : 'queue-resume'].run(tenant, name);
  if (!paused) session.wake(name);
  return { tenant, name, paused };
}
