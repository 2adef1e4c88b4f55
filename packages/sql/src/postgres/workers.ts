import type { Told, WorkerBeat, WorkerDirective, WorkerInfo, WorkerStore } from '@waybill/core';
import type { Base } from './base.ts';
import { telling, tellingOnce } from './subjects.ts';

type WorkerRow = [string, string, number, number, number, string];

export const workerStore = (base: Base): WorkerStore => ({
  beat: (given) => beat(base, given),
  direct: (tenant, id, directive, told) => direct(base, tenant, id, directive, told),
  list: async (tenant) => (await base.link.query<WorkerRow>(base.sql['worker-list'], [tenant])).map(workerOf),
});

/** One statement for a worker that is known, as all but new ones are. */
async function beat(base: Base, given: WorkerBeat): Promise<WorkerDirective> {
  const { tenant, id, activeJobs, instance = null, now, told } = given;
  const { link, sql } = base;
  const cells = [tenant, id, activeJobs, now, instance];
  const known = async () => (await link.query<[string]>(sql['worker-beat'], cells))[0];
  const entered = async () => (await telling(base, told, (to) => to.query<[string]>(sql['worker-enter'], cells)))[0];
  // The last look finds it where another beat of the same worker was faster.
  const row = (await known()) ?? (await entered()) ?? (await known());
  return row![0] as WorkerDirective;
}

function direct(
  base: Base,
  tenant: string,
  id: string,
  directive: WorkerDirective,
  told?: Told,
): Promise<WorkerInfo | null> {
  const { sql } = base;
  return tellingOnce(base)(async (tx, tell) => {
    const [before] = await tx.query<[string]>(sql['worker-lock'], [tenant, id]);
    if (!before) return null;
    const [row] = await tx.query<WorkerRow>(sql['worker-direct'], [tenant, id, directive]);
    if (told && before[0] !== directive) await tell([told]);
    return workerOf(row!);
  });
}

function workerOf([tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive]: WorkerRow): WorkerInfo {
  return { tenant, id, activeJobs, firstSeenAt, lastSeenAt, directive: directive as WorkerDirective };
}
