import {
  type Command,
  type Job,
  type LimitInfo,
  type LogEvent,
  type LoggedEvent,
  type Outcome,
  transition,
} from '@waybill/core';
import { aJob, type JobOverrides } from '@waybill/core/testing';
import { leaseMsOf, type Pace } from '../../actors/timing.ts';
import type { CronSeen, Ending, Evidence, WorkflowSeen } from '../../evidence/evidence.ts';
import type { Line, Note } from '../../evidence/note.ts';
import { type Check, worldOf } from '../finding.ts';

/** A whole minute, so that ticks are easy to tell. */
const EPOCH = 1_800_000_000_000;

export const PACE: Pace = {
  ...{ leaseMs: 2_500, lateLeaseMs: 600, sweepEveryMs: 300, faultEveryMs: [1, 1], jobsPerSecond: 1 },
};

type Unstamped<L> = L extends Line ? Omit<L, 'at'> & { at?: number } : never;

/** What happened in a run, made by the rules of the engine itself; a test then plants what must not happen. */
export class Story {
  readonly jobs = new Map<string, Job>();
  log: LoggedEvent[] = [];
  /** Absent: all that is in the log. */
  followed: LoggedEvent[] | undefined;
  notes: Note[] = [];
  readonly workflows: WorkflowSeen[] = [];
  readonly limits: LimitInfo[] = [];
  readonly crons: CronSeen[] = [];
  readonly endings: Ending[] = [];
  isOrderExact = true;
  now = EPOCH;
  #calls = 0;

  /** A job whose producer was answered for it. */
  job(overrides: JobOverrides & { call?: string } = {}): string {
    this.#calls += 1;
    const { call = `producer-1#1.0.${this.#calls}`, ...more } = overrides;
    const spec = { args: [{ call }], meta: {} };
    const { job, events } = aJob({ type: 'chaos.plain', queue: 'chaos', createdAt: this.pass(), spec, ...more });
    const granted = job.limitKey === null ? job : { ...job, holdsSlot: true, rank: 'r' };
    this.jobs.set(job.id, granted);
    this.tell(...events);
    this.note({ kind: 'answered', call, for: 'job', ids: [job.id] }, 'producer-1#1');
    return job.id;
  }

  /** The worker claims it, and its handler begins. */
  begin(id: string, by = 'worker-1#1', parents: string[] = []): void {
    const leaseMs = leaseMsOf(PACE, this.#row(id).type);
    this.change(id, { do: 'claim', claimId: `claim-${this.pass()}`, workerId: by, leaseMs });
    this.note({ kind: 'start', id, run: this.#row(id).run, parents }, by);
  }

  /** The handler comes to its end, and what it came to is settled. */
  end(id: string, kind: 'completed' | 'failed' = 'completed', by = 'worker-1#1'): void {
    const { run } = this.#row(id);
    this.note({ kind: 'end', id, run }, by);
    const outcome: Outcome =
      kind === 'completed'
        ? { kind, result: { job: id, run } }
        : { kind, error: { code: 'failed', message: 'It was told to fail.' } };
    this.change(id, { do: 'settle', outcome });
    this.note({ kind: 'settled', id, run, outcome: kind, answer: 'ok', again: false }, by);
  }

  /** Its lease runs out. */
  expire(id: string): void {
    this.now = this.#row(id).leaseUntil!;
    this.change(id, { do: 'tick' });
  }

  /** By the rules. */
  change(id: string, command: Command): void {
    const after = transition(this.#row(id), command, this.pass());
    if (after === null) throw new Error(`A job that is ${this.#row(id).state} takes no ${command.do}.`);
    const { job } = after;
    const granted = job.limitKey !== null && job.state === 'available' ? { ...job, holdsSlot: true, rank: 'r' } : job;
    this.jobs.set(id, granted);
    this.tell(...after.events);
  }

  /** Whatever the rules say. */
  tell(...events: LogEvent[]): void {
    this.log.push(...events.map((event) => ({ ...event, cursor: String(this.log.length) })));
  }

  /** An event of a job as the rules would not have it, at the next place in its order. */
  plant(id: string, type: Extract<LoggedEvent, { run: number }>['type'], run: number): void {
    const job = this.#row(id);
    this.jobs.set(id, { ...job, version: job.version + 1 });
    const { tenant, type: jobType, queue } = job;
    const event = { type, tenant, jobId: id, jobType, queue, run, attempt: run, source: 'server', data: {} };
    this.tell({ ...event, sequence: job.version + 1, at: this.pass() });
  }

  row(id: string, change: Partial<Job>): void {
    this.jobs.set(id, { ...this.#row(id), ...change });
  }

  note(line: Unstamped<Line>, by = 'worker-1#1'): void {
    this.notes.push({ at: this.pass(), ...line, by } as Note);
  }

  /** A moment goes by. */
  pass(ms = 10): number {
    this.now += ms;
    return this.now;
  }

  get evidence(): Evidence {
    const { jobs, log, followed = log, now: followedUntil, notes, workflows, limits, crons, endings } = this;
    const { isOrderExact } = this;
    return {
      ...{ jobs, log, followed, followedUntil, notes, workflows, limits, crons, endings, isOrderExact },
      ...{ clockErrorMs: 5, pace: PACE },
    };
  }

  /** What a check finds. */
  found(check: Check): string[] {
    return check(worldOf(this.evidence)).violations;
  }

  #row(id: string): Job {
    return this.jobs.get(id)!;
  }
}
