import type { Store } from '../../store/store.ts';
import type { TenantView } from './tenant-view.ts';

/** What the checks of one look read of the store as a whole. */
export interface StoreView {
  readonly now: number;
  /** Some, whose newest rows are compared with this clock. */
  readonly tenants: readonly TenantView[];
  /** By the clock of the server that made it; null: there was none. */
  readonly lastRoundAt: number | null;
  /** When the oldest row that is due now became due, and what it is; null: none is due. */
  oldestDue(): Promise<{ what: string; dueAt: number } | null>;
}

type Due = Pick<Store, 'due'>['due'];

/** `due`: as the sweep asks, so that what the store does by the way is followed up. */
export function storeView(
  due: Due,
  { now, tenants, lastRoundAt }: Pick<StoreView, 'now' | 'tenants' | 'lastRoundAt'>,
): StoreView {
  return {
    ...{ now, tenants, lastRoundAt },
    oldestDue: async () => {
      const { jobs, crons, workflows } = await due({ now, limit: 1 });
      const rows = [
        ...jobs.map(({ id, nextAt }) => ({ what: `job ${id}`, nextAt })),
        ...crons.map(({ name, nextAt }) => ({ what: `cron ${name}`, nextAt })),
        ...workflows.map(({ id, nextAt }) => ({ what: `workflow ${id}`, nextAt })),
      ];
      const found = rows.flatMap(({ what, nextAt }) => (nextAt === null ? [] : [{ what, dueAt: nextAt }]));
      return found.reduce<{ what: string; dueAt: number } | null>(
        (oldest, row) => (oldest === null || row.dueAt < oldest.dueAt ? row : oldest),
        null,
      );
    },
  };
}
