import type { Job } from '../job/job.ts';
import { jobHealth } from './checks/job-health.ts';
import type { HealthChecks } from './checks-port.ts';
import { type HealthParts, HealthRound } from './health-round.ts';
import { Rounds } from './rounds.ts';

interface ChecksParts extends HealthParts {
  mustRead(key: { tenant: string; id: string }): Promise<Job>;
}

/** The checks of one engine. Cost nothing until they are started or asked for. */
export class EngineChecks implements Required<HealthChecks> {
  readonly #parts: ChecksParts;
  readonly #look: HealthRound;
  readonly #rounds: Rounds;

  constructor(parts: ChecksParts) {
    this.#parts = parts;
    this.#look = new HealthRound(parts);
    this.#rounds = new Rounds(parts, this.#look);
  }

  readonly run: HealthChecks['run'] = async ({ tenant = '', server = true } = {}) => {
    const lastRoundAt = server ? await this.#rounds.lastAt() : null;
    return this.#look.look(tenant, { server, lastRoundAt });
  };

  readonly job: HealthChecks['job'] = async (id, { tenant = '' } = {}) => {
    const { store, settings, mustRead } = this.#parts;
    const job = await mustRead({ tenant, id });
    const health = jobHealth(job, settings, store.clock.now());
    if (health.health === null) return health;
    const [progress] = await store.reports.get([{ tenant, id }]);
    const message = progress?.run === job.run ? progress.data?.['message'] : undefined;
    return typeof message === 'string' ? { ...health, activity: message } : health;
  };

  readonly round: Required<HealthChecks>['round'] = () => this.#rounds.once();

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }
}
