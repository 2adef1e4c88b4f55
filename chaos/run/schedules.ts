import { silentLogger } from '@waybill/core';
import { type Connection, connect } from 'waybill';
import { jobFor } from '../actors/order.ts';
import type { CronSeen } from '../evidence/evidence.ts';

const NAMES = ['chaos-a', 'chaos-b', 'chaos-c', 'chaos-d'];

const ORDER = { call: 'cron', ms: 5, fails: 0, ending: 'complete', reports: false, obeys: true } as const;

/** Adds crons that must miss no tick, however late they are found. Answers since when they are there. */
export async function addCrons(url: string): Promise<Map<string, number>> {
  const added = await eachCron(url, (name, waybill) =>
    waybill.crons.put({
      ...{ name, expression: '* * * * *', overlap_policy: 'allow', misfire_policy: 'catch_up' },
      job_template: jobFor('chaos.cron', ORDER),
    }),
  );
  return new Map(added.map(({ name, createdAt }) => [name, createdAt]));
}

/** Nothing new shall come while what is left is worked off. */
export async function stopCrons(url: string, since: ReadonlyMap<string, number>): Promise<CronSeen[]> {
  const stopped = await eachCron(url, async (name, waybill) => {
    await waybill.crons.setEnabled(name, false);
    return { to: Date.now(), ...(await waybill.crons.get(name)) };
  });
  return stopped.map(({ name, to, runs }) => ({ name, from: since.get(name)!, to, runs }));
}

async function eachCron<T>(url: string, change: (name: string, waybill: Connection) => Promise<T>): Promise<T[]> {
  const waybill = await connect(url, { logger: silentLogger, engine: { maintenance: false } });
  try {
    const answers: T[] = [];
    for (const name of NAMES) answers.push(await change(name, waybill));
    return answers;
  } finally {
    await waybill.close();
  }
}
