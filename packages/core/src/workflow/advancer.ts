import { GroupCommit } from '../commit/group-commit.ts';
import type { Job } from '../job/job.ts';
import type { Logger } from '../logger.ts';
import { advance } from './advance.ts';
import type { AdvanceParts } from './end.ts';

interface AdvancerParts extends AdvanceParts {
  logger: Logger;
  /** The sweep does it when we cannot. */
  onFailed(job: Job): void;
}

/**
 * Advances nodes as soon as they have finished, many at a time. Whoever settles a node waits for it, so that the
 * workflow is where the answer lets one expect it; should this process die on the way, the sweep does it again.
 */
export class Advancer {
  readonly #parts: AdvancerParts;
  readonly #group: GroupCommit<Job, undefined>;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(parts: AdvancerParts) {
    const { maxBatch: maxItems } = parts.store.capabilities;
    this.#parts = parts;
    this.#group = new GroupCommit({ flush: (jobs) => this.#advance(jobs), maxItems, parallel: 1 });
  }

  /** Never rejects. */
  advance(job: Job): Promise<void> {
    const key = `${job.tenant}\n${job.id}\n${job.version}`;
    const known = this.#underWay.get(key);
    if (known) return known;
    const begun = this.#try(job).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, begun);
    return begun;
  }

  idle(): Promise<void> {
    return this.#group.idle();
  }

  async #try(job: Job): Promise<void> {
    try {
      await this.#group.run(job);
    } catch (error) {
      this.#parts.logger.warn({ err: error, job: job.id }, 'A workflow could not be advanced; the sweep does it.');
      this.#parts.onFailed(job);
    }
  }

  async #advance(jobs: readonly Job[]): Promise<undefined[]> {
    await advance(this.#parts, jobs);
    return jobs.map(() => undefined);
  }
}
