import type { WorkerDirective, WorkerInfo, WorkerStore } from '@waybill/core';
import type { Base } from './base.ts';

type WorkerRow = [string, string, number, number, number, string];

export const workerStore = ({ link, sql }: Base): WorkerStore => ({
  beat: async ({ tenant, id, activeJobs, now }) => {
    const [row] = await link.query<[string]>(sql['worker-beat'], [tenant, id, activeJobs, now]);
    return row![0] as WorkerDirective;
  },
  direct: async (tenant, id, directive) => {
    const [row] = await link.query<WorkerRow>(sql['worker-direct'], [tenant, id, directive]);
    return row ? workerOf(row) : null;
  },
  list: async (tenant) => (await link.query<WorkerRow>(sql['worker-list'], [tenant])).map(workerOf),
});

function workerOf([tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive]: WorkerRow): WorkerInfo {
  return { tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive: directive as WorkerDirective };
}
