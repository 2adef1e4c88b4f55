import type { Clock } from '../clock.ts';
import type { RecordStore } from '../store/records.ts';
import { LIMIT_RECORDS, limitsFromRecord, type TenantLimits } from './tenant-limits.ts';

/** A limit that another engine has set counts here this much later. */
export const LIMITS_CACHED_MS = 5_000;
const PAGE = 1_000;

interface Parts {
  records: RecordStore;
  clock: Clock;
}

/** The limits of all tenants. */
export async function readLimits({ records }: Pick<Parts, 'records'>): Promise<Map<string, TenantLimits>> {
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
  /** What this engine has set since the limits were last read, or while they are. */
  #noted = new Map<string, TenantLimits>();
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
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  note(tenant: string, limits: TenantLimits): void {
    this.#known?.set(tenant, limits);
    this.#noted.set(tenant, limits);
  }

  async idle(): Promise<void> {
    await this.#reading;
  }

  async #read(): Promise<void> {
    const readAt = this.#parts.clock.monotonic();
    this.#noted = new Map();
    try {
      const known = await readLimits(this.#parts);
      // An answer that is older than what was set here must not undo it.
      this.#known = new Map([...known, ...this.#noted]);
      this.#readAt = readAt;
    } catch {
      // Not at once again where limits are known already.
      this.#readAt = readAt;
    }
  }
}
