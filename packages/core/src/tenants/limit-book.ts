import type { Clock } from '../clock.ts';
import type { RecordStore } from '../store/records.ts';
import { LIMIT_RECORDS, limitsFromRecord, type TenantLimits } from './tenant-limits.ts';

/** A limit that another engine has set counts here this much later. */
export const LIMITS_CACHED_MS = 5_000;
const PAGE = 1_000;

type Reader = Pick<RecordStore, 'list'>;

interface Parts {
  records: Reader;
  clock: Clock;
}

/** The limits of all tenants. */
export async function readLimits(records: Reader): Promise<Map<string, TenantLimits>> {
  const found = new Map<string, TenantLimits>();
  let cursor: string | undefined;
  do {
    const page = await records.list({ ...LIMIT_RECORDS.all, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const { id, value } of page.items) {
      const limits = limitsFromRecord(value);
      if (limits !== null) found.set(LIMIT_RECORDS.tenantOf(id), limits);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

/**
 * What this engine knows of the limits of tenants: all of them, read together, so that a tenant without limits costs no
 * read however many tenants there are. While it is read again, what was known before counts.
 */
export class LimitBook {
  readonly #parts: Parts;
  #known: Map<string, TenantLimits> | null = null;
  /** For each read under way, what this engine has set since it began. */
  readonly #noted = new Set<Map<string, TenantLimits>>();
  #readAt = 0;
  #reading: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null: the tenant has none. Undefined: nothing was read yet, see `read`. */
  limitsOf(tenant: string): TenantLimits | null | undefined {
    if (this.#known === null) return undefined;
    if (this.#parts.clock.monotonic() - this.#readAt >= LIMITS_CACHED_MS) void this.read();
    return this.#known.get(tenant) ?? null;
  }

  /** Never fails: a store that is away refuses the jobs themselves, and the next call reads again. */
  read(): Promise<void> {
    this.#reading ??= this.readBy(this.#parts.records).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  note(tenant: string, limits: TenantLimits): void {
    this.#known?.set(tenant, limits);
    for (const noted of this.#noted) noted.set(tenant, limits);
  }

  async idle(): Promise<void> {
    await this.#reading;
  }

  /** The same by a way of the caller's own, whatever else reads at this moment. */
  async readBy(records: Reader): Promise<void> {
    const readAt = this.#parts.clock.monotonic();
    const noted = new Map<string, TenantLimits>();
    this.#noted.add(noted);
    try {
      const known = await readLimits(records);
      // An answer that is older than what was set here must not undo it.
      this.#known = new Map([...known, ...noted]);
    } catch {
      // Not at once again where limits are known already.
    }
    this.#noted.delete(noted);
    this.#readAt = readAt;
  }
}
