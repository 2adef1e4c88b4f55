import { limitRuleToWire, queueCounts, queueToWire } from '@waybill/client';
import type { LimitRule, QueueStats, Queues } from '@waybill/core';
import { command } from '../command.ts';
import { span } from '../spans.ts';
import { type Column, table } from '../table.ts';

/** Calls under way at once. */
const ABREAST = 20;

/** With a shorter heading, and in which order they are left out at a narrow terminal; `queues show` has them all. */
const COUNTED = [
  ['active', 'ACTIVE', 0],
  ['scheduled', 'SCHED', 3],
  ['retryable', 'RETRY', 1],
  ['completed', 'DONE', 2],
  ['discarded', 'DEAD', 0],
] as const;

export const queuesList = command({
  name: 'queues list',
  section: 'Jobs',
  summary: 'list the queues with what is in them',
  run: async (_, context) => {
    const all = await statsOfAll((await context.connect()).queues);
    const { style, io } = context;
    const count = (title: string, short: string, of: (stats: QueueStats) => number, spare = 0) => ({
      ...{ title, short, spare },
      of: (stats: QueueStats) => String(of(stats)),
      align: 'right' as const,
    });
    const columns: Column<QueueStats>[] = [
      { title: 'QUEUE', of: ({ name }) => name, least: 10 },
      { title: 'STATUS', of: ({ paused }) => (paused ? 'paused' : 'active'), paint: style.state },
      count('AVAILABLE', 'AVAIL', ({ available, parked }) => available + parked),
      ...COUNTED.map(([state, short, spare]) => count(state.toUpperCase(), short, (stats) => stats[state], spare)),
      { title: 'OLDEST', of: ({ oldestAt }) => (oldestAt === null ? '-' : span(io.now() - oldestAt)), spare: 4 },
      { title: 'LIMIT', of: ({ limit }) => limitText(limit) ?? '-', least: 8, spare: 5 },
    ];
    const queues = all.map((stats) => ({ ...queueToWire(stats), ...queueCounts(stats, io.now()) }));
    context.show({ queues }, () => (all.length === 0 ? 'No queues.\n' : table(all, columns, context)));
    return 0;
  },
});

async function statsOfAll(queues: Queues): Promise<QueueStats[]> {
  const names = (await queues.list()).map(({ name }) => name);
  const stats: QueueStats[] = [];
  for (let from = 0; from < names.length; from += ABREAST) {
    stats.push(...(await Promise.all(names.slice(from, from + ABREAST).map((name) => queues.stats(name)))));
  }
  return stats;
}

export function limitText(limit: LimitRule | null): string | undefined {
  if (limit === null) return undefined;
  const { concurrency, rate } = limitRuleToWire(limit);
  const parts = [concurrency && `${concurrency} at once`, rate && `${rate.limit} per ${rate.period}`];
  return parts.filter(Boolean).join(', ');
}
