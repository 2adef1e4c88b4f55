import type { Logger } from '../logger.ts';
import type { SinkHolders } from '../sinks/sink-holders.ts';
import { SYSTEM_TENANT } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { Look } from './checks/look.ts';
import { storeView } from './checks/store-view.ts';
import { TenantView } from './checks/tenant-view.ts';
import type { CheckName, RoundReport } from './checks-port.ts';
import { healthChecked } from './health-event.ts';
import type { HealthSettings } from './health-options.ts';
import { IncidentBook, type WatchedIncidents } from './incidents/incident-book.ts';

/** Tenants of one round; the next one goes on behind them. */
export const MOST_TENANTS = 1_000;
const PAGE = 200;
/** Tenants whose newest rows are compared with this clock. */
const MOST_COMPARED = 20;

export interface HealthParts {
  store: Store;
  /** As the sweep asks the store. */
  due: Store['due'];
  settings: HealthSettings;
  logger: Logger;
  holders: Pick<SinkHolders, 'tenantsWith'>;
  /** The log tells more. */
  onTold(): void;
}

/** Where a round begins, and what the one before has noted. */
export interface RoundStart {
  /** The tenant that the one before ended with; null: it has looked at all. */
  after: string | null;
  lastRoundAt: number | null;
}

export interface RoundEnd extends RoundReport {
  /** The tenant that the next round goes on behind; null: it begins anew. */
  after: string | null;
}

/** Looks at everything once, and keeps the incidents true to what it finds. */
export class HealthRound {
  readonly #parts: HealthParts;
  readonly #book: IncidentBook;

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const { store, logger, onTold } = parts;
    this.#book = new IncidentBook({
      ...{ records: store.records, now: () => store.clock.now(), onTold },
      onFailed: (error, incident) =>
        logger.warn({ err: error, incident }, 'An incident could not be written; the next round tries again.'),
    });
  }

  /** A tenant's report, and with `server` what is about the store as a whole. Changes nothing. */
  async look(tenant: string, { server, lastRoundAt }: { server: boolean; lastRoundAt: number | null }) {
    const { store } = this.#parts;
    const view = new TenantView(store, tenant);
    const look = this.#newLook();
    await look.atTenant(view);
    const report = look.report(tenant, view.now);
    if (!server) return report;
    const whole = this.#newLook();
    await this.#atWhole(whole, [tenant], lastRoundAt);
    const { status, findings, cut, failed } = whole.report(tenant, view.now);
    return { ...report, server: { status, findings, cut, failed } };
  }

  /** `mayGoOn`: whether this server still holds the lock; asked before each tenant. Answers where the next round begins. */
  async go({ after, lastRoundAt }: RoundStart, mayGoOn: () => Promise<boolean>): Promise<RoundEnd> {
    const { store, logger, onTold } = this.#parts;
    const { tenants, isCut } = await this.#tenants(after);
    const end: RoundEnd = { ...{ tenants: 0, opened: 0, escalated: 0, closed: 0 }, cut: isCut, after: null };
    for (const tenant of tenants) {
      if (!(await mayGoOn())) return { ...end, cut: true };
      try {
        const watched = await this.#book.watched(tenant);
        const look = this.#newLook();
        const view = new TenantView(store, tenant, jobsIn(watched));
        await look.atTenant(view);
        // What is about no tenant is told to the one without a name.
        if (tenant === '') await this.#atWhole(look, tenants, lastRoundAt);
        const report = look.report(tenant, view.now);
        const isKnown = (check: CheckName, subject: string) => look.isKnown(check) || view.isWatched(subject);
        const changes = await this.#book.update(watched, look.findings, isKnown);
        for (const name of ['opened', 'escalated', 'closed'] as const) end[name] += changes[name];
        if (report.jobs.total > 0) {
          await store.events.tell([healthChecked(report)]);
          onTold();
        }
      } catch (error) {
        logger.warn({ err: error, tenant }, 'The health of a tenant could not be looked at; the others go on.');
      }
      end.tenants += 1;
      end.after = tenant;
    }
    return isCut ? end : { ...end, after: null };
  }

  #newLook(): Look {
    return new Look({ ...this.#parts, log: this.#parts.store.events });
  }

  async #atWhole(look: Look, tenants: readonly string[], lastRoundAt: number | null): Promise<void> {
    const { store, due } = this.#parts;
    const views = tenants.slice(0, MOST_COMPARED).map((tenant) => new TenantView(store, tenant));
    await look.atSinks(new TenantView(store, SYSTEM_TENANT));
    await look.atStore(storeView(due, { now: store.clock.now(), tenants: views, lastRoundAt }));
  }

  /** Those that have queues or webhooks, in order; the one without a name comes first in every round. */
  async #tenants(after: string | null): Promise<{ tenants: string[]; isCut: boolean }> {
    const { store, holders } = this.#parts;
    const names: string[] = [];
    let from = after;
    for (;;) {
      const page = await store.queues.tenants({ after: from, limit: PAGE });
      names.push(...page);
      if (page.length < PAGE || names.length >= MOST_TENANTS) break;
      from = page.at(-1)!;
    }
    const isCut = names.length >= MOST_TENANTS;
    const last = isCut ? names.at(-1)! : undefined;
    const others = (await holders.tenantsWith('webhook')).filter(
      (name) => (after === null || name > after) && (last === undefined || name <= last),
    );
    const tenants = [...new Set([...names, ...others])].filter((name) => name !== '').sort();
    return { tenants: ['', ...tenants], isCut };
  }
}

/** Jobs that there are incidents about. */
const jobsIn = ({ records }: WatchedIncidents): string[] =>
  [...records.values()].flatMap(({ value }) => (typeof value['job_id'] === 'string' ? [value['job_id']] : []));
