import { setTimeout as sleep } from 'node:timers/promises';
import { type JobRequest, newJobId } from '@waybill/core';
import type { Connection } from 'waybill';
import type { Random } from '../random.ts';
import type { Journal } from './journal.ts';
import { jobFor, limitedJob, orderFor, uniqueJob, workflowFor } from './order.ts';
import { mayRepeat, refusalOf } from './settings.ts';

interface AskingParts {
  connection: Connection;
  journal: Journal;
  random: Random;
  /** Leads the label of every call. */
  name: string;
  leaseMs: number;
  stop: AbortSignal;
}

interface Call {
  label: string;
  for: 'job' | 'workflow';
  key?: string;
  /** Answers the ids of what was stored, or had been stored by the same call before. */
  make(): Promise<string[]>;
  /** Whether it may be made again after a failure: by its id or its key, it has one effect. */
  repeatable: boolean;
}

const MANY = 5;
/** After this long a call that is never answered is given up. */
const PATIENCE_MS = 30_000;

/** One after another, all the ways in which jobs are asked for. */
export class Asking {
  readonly #parts: AskingParts;
  #count = 0;

  constructor(parts: AskingParts) {
    this.#parts = parts;
  }

  /** One call in `everyMs` at most, until it is told to stop. */
  async run(everyMs: number): Promise<void> {
    const { stop, random } = this.#parts;
    while (!stop.aborted) {
      const next = performance.now() + everyMs * (0.5 + random(100) / 100);
      await this.#ask();
      await sleep(Math.max(0, next - performance.now()), undefined, { signal: stop }).catch(() => {});
    }
  }

  async #ask(): Promise<void> {
    const { random, name } = this.#parts;
    this.#count += 1;
    const label = `${name}.${this.#count}`;
    const dice = random(100);
    if (dice < 40) await this.#answered(this.#withOwnId(label, this.#plain(label)));
    else if (dice < 46) await this.#answered(this.#bare(label, this.#plain(label)));
    else if (dice < 49) await this.#answered(this.#many(label));
    else if (dice < 63) await this.#answered(this.#keyed(label));
    else if (dice < 76) await this.#answered(this.#bare(label, uniqueJob(random, label)));
    else if (dice < 88) await this.#answered(this.#withOwnId(label, limitedJob(random, label)));
    else if (dice < 91) await this.#answered(this.#workflow(label));
    else if (dice < 95) await this.#answered(this.#withOwnId(label, jobFor('chaos.late', orderFor(random, label))));
    else await this.#cancelled(label);
  }

  /** Now and then one that takes longer than a lease. */
  #plain(label: string): JobRequest {
    const { random, leaseMs } = this.#parts;
    return jobFor('chaos.plain', orderFor(random, label, random(25) === 0 ? { ms: leaseMs + 1_000 } : {}));
  }

  /** Until it is answered or refused for good. Everything is noted. */
  async #answered(call: Call): Promise<string[]> {
    const { journal, random } = this.#parts;
    const { label, key } = call;
    journal.note({ kind: 'asked', call: label, for: call.for, ...(key !== undefined && { key }) });
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        const ids = await call.make();
        journal.note({ kind: 'answered', call: label, for: call.for, ids });
        // Made once more now and then, as by a producer that never got the answer.
        if (!call.repeatable || random(4) > 0) return ids;
      } catch (error) {
        const code = refusalOf(error);
        journal.note({ kind: 'refused', call: label, code });
        if (!call.repeatable || !mayRepeat(code) || performance.now() > end) return [];
        await sleep(50 + random(200));
      }
    }
  }

  #withOwnId(label: string, request: JobRequest): Call {
    const id = newJobId(Date.now());
    const make = () => this.#enqueue({ ...request, id }).then(idsOf, existing([id]));
    return { label, for: 'job', make, repeatable: true };
  }

  /** Once only: without an id or a key the fate of a lost call is unknown. */
  #bare(label: string, request: JobRequest): Call {
    return { label, for: 'job', make: () => this.#enqueue(request).then(idsOf), repeatable: false };
  }

  /** All or nothing, so when one of them is there, all are. */
  #many(label: string): Call {
    const { random, connection } = this.#parts;
    const requests = Array.from({ length: MANY }, (_, index) => ({
      ...jobFor('chaos.plain', orderFor(random, `${label}/${index}`)),
      id: newJobId(Date.now()),
    }));
    const ids = requests.map(({ id }) => id);
    const make = () => connection.jobs.enqueueMany(requests).then((jobs) => jobs.map(({ id }) => id), existing(ids));
    return { label, for: 'job', make, repeatable: true };
  }

  #keyed(label: string): Call {
    const { random, connection } = this.#parts;
    const request = jobFor('chaos.keyed', orderFor(random, label));
    const make = () => connection.jobs.enqueue(request, { idempotencyKey: label }).then(idsOf);
    return { label, for: 'job', key: label, make, repeatable: true };
  }

  #workflow(label: string): Call {
    const { random, connection } = this.#parts;
    const request = workflowFor(random, label);
    const make = () => connection.workflows.create(request).then(({ id }) => [id]);
    return { label, for: 'workflow', make, repeatable: false };
  }

  async #cancelled(label: string): Promise<void> {
    const { random, journal, connection } = this.#parts;
    const [id] = await this.#answered(
      this.#withOwnId(label, jobFor('chaos.plain', orderFor(random, label, { ms: random(400) }))),
    );
    if (id === undefined) return;
    try {
      const { state } = await connection.jobs.cancel(id);
      journal.note({ kind: 'cancelled', id, state });
    } catch {
      // It has ended before, or whether it was cancelled is not known.
    }
  }

  #enqueue(request: JobRequest) {
    return this.#parts.connection.jobs.enqueue(request);
  }
}

const idsOf = ({ job }: { job: { id: string } }): string[] => [job.id];

/** A refusal that names one of these ids says that an earlier try of ours has stored them. */
const existing =
  (ids: string[]) =>
  (error: unknown): string[] => {
    const { code, details } = error as { code?: string; details?: { existing_job_id?: string } };
    if (code === 'duplicate' && ids.includes(details?.existing_job_id ?? '')) return ids;
    throw error;
  };
