import { parseDuration, TERMINAL_EVENT_TYPES } from '@waybill/core';
import { LIMITS } from '../actors/order.ts';
import { type Check, Tally, type World } from './finding.ts';
import type { History, Run } from './history.ts';
import { type Span, tooMany } from './spans.ts';

/**
 * Guarantee 7: two live jobs never share a unique key, and no limit is exceeded in leases.
 *
 * Where the log is in the order of the commits, places in the log tell who was there at the same time. Elsewhere only what
 * is certain counts: an event is written at its time or later, so a job or a lease was surely there from the moment at
 * which somebody was seen with it, until the time of the event that ended it.
 */
export const exclusion: Check = (world) => {
  const tally = new Tally('jobs and leases');
  const jobs = [...world.jobs.values()];
  const seen = firstSeen(world);
  for (const [key, own] of Map.groupBy(
    jobs.filter(({ uniqueKey }) => uniqueKey !== null),
    (job) => job.uniqueKey!,
  )) {
    const spans = own.map(({ id }) => lifeOf(world, world.histories.get(id), seen.get(id)));
    tally.count(own.length);
    const together = tooMany(
      spans.filter((span) => span !== undefined),
      1,
    );
    tally.expect(
      together === undefined,
      () => `live at once with unique key ${key.slice(0, 12)}: ${together!.join(', ')}`,
    );
  }
  for (const [key, rule] of Object.entries(LIMITS)) {
    const runs = jobs
      .filter(({ limitKey }) => limitKey === key)
      .flatMap(({ id }) => (world.histories.get(id)?.runs ?? []).map((run) => ({ id, run })));
    tally.count(runs.length);
    if ('concurrency' in rule) checkConcurrency(tally, world, key, rule.concurrency, runs);
    else checkRate(tally, key, rule.rate.limit, parseDuration(rule.rate.period)!, runs);
  }
  return tally.finding;
};

interface RunOfJob {
  id: string;
  run: Run;
}

/** When each job was surely stored: its producer had been answered, or a handler was at work. */
function firstSeen({ notes }: World): Map<string, number> {
  const seen = new Map<string, number>();
  for (const note of notes) {
    const ids = note.kind === 'answered' ? note.ids : note.kind === 'start' ? [note.id] : [];
    for (const id of ids) seen.set(id, Math.min(note.at, seen.get(id) ?? Number.POSITIVE_INFINITY));
  }
  return seen;
}

function lifeOf(world: World, history: History | undefined, seenAt: number | undefined): Span | undefined {
  const [first, end] = [history?.events[0], history?.events.find(({ type }) => TERMINAL_EVENT_TYPES.has(type))];
  if (!history || !first || !end) return undefined;
  const name = `job ${history.id}`;
  if (world.isOrderExact) return { name, from: first.place, to: end.place };
  return seenAt === undefined ? undefined : { name, from: seenAt, to: end.at - world.clockErrorMs };
}

function checkConcurrency(tally: Tally, world: World, key: string, limit: number, runs: readonly RunOfJob[]): void {
  const spans = runs.flatMap(({ id, run: { run, started, ended, starts } }): Span[] => {
    if (!started || !ended) return [];
    const name = `run ${run} of job ${id}`;
    if (world.isOrderExact) return [{ name, from: started.place, to: ended.place }];
    return starts[0] ? [{ name, from: starts[0].at, to: ended.at - world.clockErrorMs }] : [];
  });
  const together = tooMany(spans, limit);
  tally.expect(
    together === undefined,
    () => `more than ${limit} leases at once of limit ${key}: ${together!.join(', ')}`,
  );
}

/** A run has started between the time of its event and that of its handler. */
function checkRate(tally: Tally, key: string, limit: number, periodMs: number, runs: readonly RunOfJob[]): void {
  const starts = runs.flatMap(({ id, run: { run, started, starts } }) =>
    started && starts[0] ? [{ name: `run ${run} of job ${id}`, from: started.at, to: starts[0].at }] : [],
  );
  for (const { from } of starts) {
    const within = starts.filter((start) => start.from >= from && start.to < from + periodMs);
    if (within.length <= limit) continue;
    const names = within.map(({ name }) => name).join(', ');
    tally.expect(false, () => `more than ${limit} starts in ${periodMs} ms of limit ${key}: ${names}`);
    return;
  }
}
