import { adoptedJob } from '../claim/adopted-job.ts';
import { wrongState } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { isToAdvance, type Job } from '../job/job.ts';
import type { ErrorInput } from '../job/outcome.ts';
import type { Delivery } from '../transport/transport.ts';
import type { Jobs } from '../waybill.ts';
import { advance } from '../workflow/advance.ts';
import type { Advancer } from '../workflow/advancer.ts';
import type { AdvanceParts } from '../workflow/end.ts';
import type { Maintenance, PassOptions, PassReport } from './maintenance.ts';

interface InTenant {
  tenant?: string;
}

/**
 * What the loops of a server do by themselves, as single calls for a process without loops, such as a function. Each call
 * may be repeated and made by many at once: the row decides what is left to do.
 */
export interface Upkeep {
  /** Everything that is due: schedules, retries, lost leases, timeouts, crons, workflows, and what is too old. */
  run(options?: PassOptions): Promise<PassReport>;
  /**
   * Does what follows the end of a workflow's node and was not done yet: starts its dependents, ends the workflow. Answers
   * whether there was something to do. Refused with `not_found` when there is no such job.
   */
  advance(id: string, context?: InTenant): Promise<boolean>;
  /** Sends the hint of a job again. Answers whether a worker can claim the job now. */
  hint(id: string, context?: InTenant): Promise<boolean>;
  /**
   * Makes a message of a foreign producer a job, as a claim does, and answers its id. A message that names a job of ours
   * has it already.
   */
  adopt(message: Pick<Delivery, 'tenant' | 'queue' | 'jobId' | 'adopt'>): Promise<string>;
  /** Ends a job as failed for good. Refused with `conflict` when it has finished, and while a worker holds it. */
  giveUp(id: string, error: ErrorInput, context?: InTenant): Promise<Job>;
  /** Resolves when nothing of these calls is under way any more. */
  idle(): Promise<void>;
}

interface UpkeepParts extends AdvanceParts {
  maintenance: Pick<Maintenance, 'pass'>;
  advancer: Pick<Advancer, 'idle'>;
  writer: Writer;
  hint(jobs: readonly Job[]): void;
  adopt: Jobs['enqueue'];
}

export function upkeep({ maintenance, advancer, hint, adopt, ...parts }: UpkeepParts): Upkeep {
  const { writer } = parts;

  /** What one of them does may make the other one begin. */
  async function idle(): Promise<void> {
    await advancer.idle();
    await writer.idle();
    await advancer.idle();
  }

  return {
    run: async (options) => {
      const report = await maintenance.pass(options);
      await idle();
      return report;
    },
    advance: async (id, { tenant = '' } = {}) => {
      const job = await writer.mustRead({ tenant, id });
      if (!isToAdvance(job)) return false;
      // Not by the advancer, which leaves to the sweep what fails: here the caller repeats it.
      await advance(parts, [job]);
      await idle();
      return true;
    },
    hint: async (id, { tenant = '' } = {}) => {
      const job = await writer.mustRead({ tenant, id });
      hint([job]);
      return job.rank !== null;
    },
    adopt: async (message) => (message.adopt ? adoptedJob(adopt, message, message.adopt) : message.jobId),
    giveUp: async (id, error, { tenant = '' } = {}) => {
      const ended = await writer.change({ tenant, id }, { do: 'give_up', error }, (job) =>
        wrongState(job, job.state === 'active' ? 'a worker holds it' : 'it has ended'),
      );
      await idle();
      return ended;
    },
    idle,
  };
}
