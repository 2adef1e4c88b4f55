import { WaybillError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import { storeWithin } from '../store/within.ts';
import type { LimitBook } from './limit-book.ts';
import { RateUse } from './rate-use.ts';
import type { TenantLimits } from './tenant-limits.ts';
import { WaitingUse } from './waiting-use.ts';

interface Parts {
  store: Store;
  book: LimitBook;
}

interface Use {
  waiting: WaitingUse;
  rate: RateUse | null;
}

/** How soon a job may have been started that waits now. */
const TRY_AGAIN_MS = 1_000;

/**
 * Refuses to enqueue more than a tenant may have. Each engine counts what it has enqueued since it last looked at the
 * store, and looks again before that exceeds its share of the room, so that several engines exceed a limit by what each of
 * them writes at one time.
 */
export class EnqueueGuard {
  readonly #parts: Parts;
  /** Of tenants with limits only. */
  readonly #uses = new Map<string, Use>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Undefined where nothing limits the tenant, so that the call goes on in the same turn. */
  check(tenant: string, count: number, within?: Transaction): Promise<void> | undefined {
    const limits = this.#parts.book.limitsOf(tenant);
    if (limits === undefined) return this.#checkFirst(tenant, count, within);
    if (limits === null || isOpen(limits)) return undefined;
    return this.#check(tenant, count, limits);
  }

  /** Once per engine: a limit holds for its first job too. */
  async #checkFirst(tenant: string, count: number, within: Transaction | undefined): Promise<void> {
    const { book, store } = this.#parts;
    // The transactions of callers may hold all connections of a pool, and then another one comes only when they end.
    await (within ? book.readBy(storeWithin(store, within).records) : book.read());
    const limits = book.limitsOf(tenant);
    if (limits && !isOpen(limits)) await this.#check(tenant, count, limits);
  }

  async #check(tenant: string, count: number, { waiting, enqueueRate }: TenantLimits): Promise<void> {
    // Taken once, because another call may see that the rate was removed, and remove its use, while this one waits.
    const { waiting: waitingUse, rate } = this.#useOf(tenant, enqueueRate);
    if (waiting !== null) await waitingUse.refresh(waiting, count);
    if (enqueueRate !== null && rate !== null) await rate.refresh(enqueueRate.limit, count);
    // From here on in one turn, so that calls of this engine see each other.
    if (waiting !== null && waitingUse.count + count > waiting) throw tooMany(tenant, count, waiting);
    if (enqueueRate !== null && rate !== null && rate.count + count > enqueueRate.limit)
      throw tooFast(tenant, count, enqueueRate, rate.freeInMs);
    waitingUse.add(count);
    rate?.add(count);
  }

  #useOf(tenant: string, rate: TenantLimits['enqueueRate']): Use {
    const { store } = this.#parts;
    const use = this.#uses.get(tenant) ?? { waiting: new WaitingUse(store, tenant), rate: null };
    this.#uses.set(tenant, use);
    if (rate === null) use.rate = null;
    else if (use.rate?.periodMs !== rate.periodMs) use.rate = new RateUse(store, tenant, rate.periodMs);
    return use;
  }
}

const isOpen = ({ waiting, enqueueRate }: TenantLimits): boolean => waiting === null && enqueueRate === null;

const named = (tenant: string): string => (tenant === '' ? 'The tenant without a name' : `The tenant '${tenant}'`);

const tooMany = (tenant: string, count: number, max: number): WaybillError =>
  new WaybillError(
    'resource_exhausted',
    `${named(tenant)} may have ${max} jobs waiting, and has no room for ${count}.`,
    {
      details: { tenant, limit: 'waiting', max, retry_after_ms: TRY_AGAIN_MS },
      hint:
        count > max
          ? 'This call has more jobs than the limit. Send fewer at once, or ask an operator to raise it.'
          : 'Try again when some of its jobs have started, or ask an operator to raise the limit.',
    },
  );

const tooFast = (
  tenant: string,
  count: number,
  { limit, periodMs }: NonNullable<TenantLimits['enqueueRate']>,
  freeInMs: number,
): WaybillError =>
  new WaybillError('rate_limited', `${named(tenant)} may enqueue ${limit} jobs in ${periodMs} ms.`, {
    details: { tenant, limit: 'enqueue_rate', max: limit, period_ms: periodMs, retry_after_ms: freeInMs },
    hint:
      count > limit
        ? 'This call has more jobs than the limit. Send fewer at once, or ask an operator to raise it.'
        : 'Try again later, or ask an operator to raise the limit.',
  });
