import type { Logger } from '../../logger.ts';
import { reasonOf } from '../../maintenance/failing-items.ts';
import type { EventLog } from '../../store/event-log.ts';
import type { CheckName, Finding, HealthReport, JobHealth, RunSummary } from '../checks-port.ts';
import type { HealthSettings } from '../health-options.ts';
import type { CheckAnswer, TenantCheck } from './check.ts';
import { clockSkew } from './clock-skew.ts';
import { deadLettersCheck } from './dead-letters.ts';
import { lateCrons } from './late-crons.ts';
import { liveWorkers } from './live-workers.ts';
import { queueAge } from './queue-age.ts';
import { checkRunningJobs, type RunningAnswer } from './running-jobs.ts';
import { sinkLag } from './sink-lag.ts';
import type { StoreView } from './store-view.ts';
import { sweepLag } from './sweep-lag.ts';
import type { TenantView } from './tenant-view.ts';

const NO_JOBS: RunSummary = { total: 0, healthy: 0, warning: 0, critical: 0, overtime: 0 };

interface LookParts {
  settings: HealthSettings;
  log: Pick<EventLog, 'read'>;
  logger: Logger;
}

/** What the checks of one look have found, and how far they can be believed. */
export class Look {
  readonly #parts: LookParts;
  readonly #findings: Finding[] = [];
  readonly #cut = new Set<CheckName>();
  readonly #failed = new Map<CheckName, string>();
  #jobs = NO_JOBS;
  #tasks: readonly JobHealth[] = [];

  constructor(parts: LookParts) {
    this.#parts = parts;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** One that fails says nothing about the others. */
  async atTenant(view: TenantView): Promise<void> {
    const { settings, log } = this.#parts;
    const running = await this.#run('running-jobs', () => checkRunningJobs(view, settings));
    if (running) [this.#jobs, this.#tasks] = [running.jobs, (running as RunningAnswer).tasks];
    const checks: readonly TenantCheck[] = [queueAge, deadLettersCheck, lateCrons, sinkLag(log), liveWorkers];
    for (const { name, run } of checks) await this.#run(name, () => run(view, settings));
  }

  /** Sinks of the configuration belong to no tenant. */
  async atSinks(view: TenantView): Promise<void> {
    const { name, run } = sinkLag(this.#parts.log);
    await this.#run(name, () => run(view, this.#parts.settings));
  }

  async atStore(view: StoreView): Promise<void> {
    const { settings } = this.#parts;
    for (const { name, run } of [sweepLag, clockSkew]) await this.#run(name, () => run(view, settings));
  }

  /** Whether what this check has not found is not there. A check that is off finds nothing. */
  isKnown(check: CheckName): boolean {
    return !this.#cut.has(check) && !this.#failed.has(check);
  }

  report(tenant: string, at: number): HealthReport {
    const findings = [...this.#findings].sort((one, other) => rankOf(one) - rankOf(other));
    const status = findings[0]?.severity ?? (this.#failed.size > 0 ? 'warning' : 'healthy');
    const failed = [...this.#failed].map(([check, reason]) => ({ check, reason }));
    return { status, tenant, at, findings, jobs: this.#jobs, tasks: this.#tasks, cut: [...this.#cut], failed };
  }

  async #run<A extends CheckAnswer>(check: CheckName, run: () => Promise<A>): Promise<A | undefined> {
    const { settings, logger } = this.#parts;
    if (settings.off.has(check)) return undefined;
    try {
      const answer = await run();
      if (answer.isCut) this.#cut.add(check);
      this.#findings.push(...answer.findings.map((finding) => ({ ...finding, check })));
      return answer;
    } catch (error) {
      this.#failed.set(check, reasonOf(error));
      logger.warn({ err: error, check }, 'A health check failed; the others go on.');
      return undefined;
    }
  }
}

const rankOf = ({ severity }: Finding): number => (severity === 'critical' ? 0 : 1);
