import { fenceAdmits, type Progress, progressAfter } from '../../job/progress.ts';
import type { JobKey } from '../query.ts';
import type { ReportAnswer, ReportRequest } from '../reports.ts';
import { keyOf, type MemoryState } from './state.ts';

export function addReports(state: MemoryState, requests: readonly ReportRequest[]): ReportAnswer[] {
  return requests.map(({ tenant, id, by, report, now }) => {
    const job = state.get(tenant, id);
    if (!job || !fenceAdmits(job, by)) return { status: 'lost' };
    const known = state.progress.get(keyOf(tenant, id)) ?? null;
    const after = progressAfter(job, known, report, now);
    if (after === null) return { status: 'noted', repeated: true, progress: known! };
    state.progress.set(keyOf(tenant, id), after.progress);
    state.tell([after.event]);
    return { status: 'noted', repeated: false, progress: after.progress };
  });
}

export const getProgress = (state: MemoryState, keys: readonly JobKey[]): (Progress | null)[] =>
  keys.map(({ tenant, id }) => state.progress.get(keyOf(tenant, id)) ?? null);
