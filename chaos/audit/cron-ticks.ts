import type { CronSeen } from '../evidence/evidence.ts';
import { type Check, Tally } from './finding.ts';

const MINUTE_MS = 60_000;
/** A tick that came this shortly before the cron was disabled may not have been found any more. */
const LAST_MOMENT_MS = 15_000;
/** The key under which a cron makes the job of a tick. */
const KEY = /^§cron:(.+):(\d+)$/;

/** Guarantee 9: each tick of each cron has made one job, and nothing else has. */
export const cronTicks: Check = ({ jobs, crons, log }) => {
  const tally = new Tally('ticks');
  const ticks = new Map(crons.map(({ name }) => [name, [] as number[]]));
  for (const { id, type, idempotencyKey } of jobs.values()) {
    if (type !== 'chaos.cron') continue;
    const [, name = '', tick] = KEY.exec(idempotencyKey ?? '') ?? [];
    tally.expect(ticks.has(name), () => `job ${id} was made by no tick, its key is ${idempotencyKey}`);
    ticks.get(name)?.push(Number(tick));
  }
  const told = log.filter(({ type }) => type === 'cron.triggered');
  for (const cron of crons) {
    const own = ticks.get(cron.name)!;
    tally.count(own.length);
    checkTicks(tally, cron, own);
    tally.expect(cron.runs === own.length, () => `cron ${cron.name} says ${cron.runs} runs and has ${own.length} jobs`);
    // Where the log tells of crons, it tells of each tick once.
    const events = told.filter(({ subject }) => subject === cron.name).length;
    tally.expect(told.length === 0 || events === own.length, () => `cron ${cron.name} has ${events} events`);
  }
  return tally.finding;
};

function checkTicks(tally: Tally, { name, from, to }: CronSeen, ticks: readonly number[]): void {
  const times = Map.groupBy(ticks, (tick) => tick);
  for (const [time, own] of times)
    tally.expect(own.length === 1, () => `cron ${name} fired ${own.length} times for ${shown(time)}`);
  const first = Math.floor(from / MINUTE_MS + 1) * MINUTE_MS;
  for (let time = first; time <= to - LAST_MOMENT_MS; time += MINUTE_MS)
    tally.expect(times.has(time), () => `cron ${name} did not fire for ${shown(time)}`);
  for (const time of times.keys()) {
    const isDue = time >= first && time <= to && time % MINUTE_MS === 0;
    tally.expect(isDue, () => `cron ${name} fired for ${shown(time)}, which is no tick of it`);
  }
}

const shown = (time: number): string => new Date(time).toISOString();
