import { isJobEvent, type JobEvent, TERMINAL_EVENT_TYPES } from '@waybill/core';
import type { Evidence } from '../evidence/evidence.ts';
import type { Note } from '../evidence/note.ts';

/** An event of a job's lifecycle, with its place in the whole log. */
export type Placed = JobEvent & { place: number };

type Of<K extends Note['kind']> = Extract<Note, { kind: K }>;

/** One run of a job, as the log and as the journals have it. */
export interface Run {
  run: number;
  started: Placed | undefined;
  /** The event that ended its lease. */
  ended: Placed | undefined;
  starts: Of<'start'>[];
  ends: Of<'end'>[];
  settles: Of<'settled'>[];
}

export interface History {
  id: string;
  /** In the order of the log. */
  events: Placed[];
  runs: Run[];
  /** Events that begin or end a run in a way that no lease allows. */
  stray: { event: Placed; live: number | undefined }[];
}

/** What only a run can come to. The ends of jobs may also come without one. */
const OF_A_RUN = new Set(['job.completed', 'job.failed', 'job.requeued', 'job.snoozed', 'job.lease_expired']);

/** All that is known of each job, in one place. */
export function historiesOf({ log, notes }: Pick<Evidence, 'log' | 'notes'>): Map<string, History> {
  const histories = new Map<string, History>();
  const historyOf = (id: string): History => {
    const known = histories.get(id);
    if (known) return known;
    const history: History = { id, events: [], runs: [], stray: [] };
    histories.set(id, history);
    return history;
  };
  for (const [place, event] of log.entries()) {
    if (isJobEvent(event) && event.source === 'server') historyOf(event.jobId).events.push({ ...event, place });
  }
  for (const history of histories.values()) followLeases(history);
  for (const note of notes) {
    if (note.kind === 'start') runOf(historyOf(note.id), note.run).starts.push(note);
    else if (note.kind === 'end') runOf(historyOf(note.id), note.run).ends.push(note);
    else if (note.kind === 'settled') runOf(historyOf(note.id), note.run).settles.push(note);
  }
  for (const { runs } of histories.values()) runs.sort((one, other) => one.run - other.run);
  return histories;
}

function followLeases(history: History): void {
  let live: Run | undefined;
  for (const event of history.events) {
    if (event.type === 'job.started') {
      if (live !== undefined) history.stray.push({ event, live: live.run });
      live = runOf(history, event.run);
      if (live.started !== undefined) history.stray.push({ event, live: live.run });
      live.started ??= event;
    } else if (live !== undefined && (OF_A_RUN.has(event.type) || TERMINAL_EVENT_TYPES.has(event.type))) {
      if (event.run !== live.run) history.stray.push({ event, live: live.run });
      live.ended = event;
      live = undefined;
    } else if (OF_A_RUN.has(event.type)) history.stray.push({ event, live: undefined });
  }
}

function runOf({ runs }: History, run: number): Run {
  const known = runs.find((one) => one.run === run);
  if (known) return known;
  const made: Run = { run, started: undefined, ended: undefined, starts: [], ends: [], settles: [] };
  runs.push(made);
  return made;
}
