import type { Told } from '../../events/subject-event.ts';
import { type CronRecord, cronReplacing, type EnableRequest, type FireAnswer, type FireRequest } from '../crons.ts';
import { storedBy } from '../insert.ts';
import { insertGroup } from './insert.ts';
import { keyOf, type MemoryState } from './state.ts';

export function putCron(state: MemoryState, cron: CronRecord, told?: Told): CronRecord {
  const key = keyOf(cron.tenant, cron.name);
  const before = state.crons.get(key);
  const stored = before ? cronReplacing(before, cron) : cron;
  state.crons.set(key, stored);
  if (told) state.tellOf(told);
  return stored;
}

export function enableCron(state: MemoryState, request: EnableRequest, told?: Told): CronRecord | null {
  const { tenant, name, expected, enabled, nextAt } = request;
  const before = getCron(state, tenant, name);
  if (before?.version !== expected) return null;
  const after = { ...before, enabled, nextAt, version: before.version + 1 };
  state.crons.set(keyOf(tenant, name), after);
  if (told) state.tellOf(told);
  return after;
}

export const getCron = (state: MemoryState, tenant: string, name: string): CronRecord | null =>
  state.crons.get(keyOf(tenant, name)) ?? null;

export const listCrons = (state: MemoryState, tenant: string): CronRecord[] =>
  [...state.crons.values()].filter((cron) => cron.tenant === tenant).sort((a, b) => (a.name < b.name ? -1 : 1));

export function removeCron(state: MemoryState, tenant: string, name: string, told?: Told): CronRecord | null {
  const cron = getCron(state, tenant, name);
  if (cron && told) state.tellOf(told);
  state.crons.delete(keyOf(tenant, name));
  return cron;
}

export function fireCron(state: MemoryState, request: FireRequest): FireAnswer {
  const { tenant, name, expected, nextAt, tick, job, told } = request;
  const cron = getCron(state, tenant, name);
  if (!cron || cron.version !== expected.version || cron.nextAt !== expected.nextAt) return { status: 'lost' };
  const passedOver = { ...cron, nextAt, lastAt: tick };
  const answer = job && insertGroup(state, { jobs: [job] });
  // A job that was kept out by another one leaves no row; the tick has been dealt with all the same.
  const made = job !== undefined && state.get(tenant, job.job.id) !== undefined;
  const after = made ? { ...passedOver, lastJobId: job.job.id, runs: cron.runs + 1 } : passedOver;
  state.crons.set(keyOf(tenant, name), after);
  if (told && (!job || answer?.status === 'inserted')) state.tellOf(told);
  return { status: 'fired', ...storedBy(answer ? [answer] : []) };
}
