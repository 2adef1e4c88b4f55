import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { MaintenanceHealth } from '../health/health-info.ts';
import type { JsonObject } from '../json.ts';
import { type RecordStore, SYSTEM_TENANT } from '../store/records.ts';
import type { FailingItem } from './failing-items.ts';

const KIND = 'maintenance';
/** While something fails, the record is written again this often, and at most this often. */
const RENEW_EVERY_MS = 60_000;
const WRITE_EVERY_MS = 5_000;
/** The record of a process that died goes by itself. */
const KEPT_MS = 3 * RENEW_EVERY_MS;
/** What others have noted is read again after this time. */
const FRESH_MS = 10_000;
/** A store that does not answer by then must not keep the caller waiting. */
const ANSWER_WITHIN_MS = 2_000;
const MOST_PROCESSES = 100;

interface Parts {
  records: RecordStore;
  clock: Clock;
}

/**
 * What the maintenance of each process has put off, in a record of that process. So whoever looks at the store learns of
 * it, without asking every server. A process whose maintenance gets on writes nothing.
 */
export class PutOffNotes {
  readonly #parts: Parts;
  readonly #key = { tenant: SYSTEM_TENANT, kind: KIND, id: randomUUID() };
  /** Of the own record; 0: there is none. */
  #version = 0;
  #told = '';
  #writtenAt = Number.NEGATIVE_INFINITY;
  #others: readonly MaintenanceHealth[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Never rejects: what cannot be written now is written after another round. */
  async tell(own: MaintenanceHealth): Promise<void> {
    try {
      await (own.status === 'ok' ? this.clear() : this.#write(own));
    } catch {}
  }

  async clear(): Promise<void> {
    if (this.#version === 0) return;
    await this.#parts.records.remove(this.#key);
    this.#version = 0;
    this.#told = '';
  }

  /** What other processes have noted, as far as the store answers. */
  async others(): Promise<readonly MaintenanceHealth[]> {
    const { clock } = this.#parts;
    if (clock.monotonic() - this.#readAt >= FRESH_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = null;
      });
      const answered = new AbortController();
      await Promise.race([this.#reading, clock.sleep(ANSWER_WITHIN_MS, answered.signal)]);
      answered.abort();
    }
    return this.#others;
  }

  async #write(own: MaintenanceHealth): Promise<void> {
    const { records, clock } = this.#parts;
    const text = JSON.stringify(own);
    const sinceMs = clock.monotonic() - this.#writtenAt;
    if (sinceMs < WRITE_EVERY_MS || (text === this.#told && sinceMs < RENEW_EVERY_MS)) return;
    this.#writtenAt = clock.monotonic();
    const value = JSON.parse(text) as JsonObject;
    const [answer] = await records.put([
      { ...this.#key, value, expected: this.#version, expiresAt: clock.now() + KEPT_MS },
    ]);
    this.#version = answer!.record?.version ?? 0;
    this.#told = answer!.status === 'stored' ? text : '';
  }

  async #read(): Promise<void> {
    const { records, clock } = this.#parts;
    try {
      const { items } = await records.list({ tenant: SYSTEM_TENANT, kind: KIND, limit: MOST_PROCESSES });
      this.#others = items.filter(({ id }) => id !== this.#key.id).flatMap(({ value }) => healthIn(value));
      this.#readAt = clock.monotonic();
    } catch {
      // Health says by itself that the store does not answer.
    }
  }
}

/** Nothing where a newer version has written something else. */
function healthIn({ status, failing, items, reason }: JsonObject): MaintenanceHealth[] {
  if (status !== 'failing' || typeof failing !== 'number' || !Array.isArray(items)) return [];
  const named = items as unknown as FailingItem[];
  return [{ status, failing, items: named, ...(typeof reason === 'string' && { reason }) }];
}

/** An item that several processes fail on is one item. Undefined: no process has noted anything. */
export function together(all: readonly MaintenanceHealth[], most: number): MaintenanceHealth | undefined {
  if (all.length === 0) return undefined;
  const items = new Map<string, FailingItem>();
  for (const item of all.flatMap((one) => one.items)) {
    const key = `${item.kind}\n${item.tenant}\n${item.id}`;
    if (item.failures > (items.get(key)?.failures ?? 0)) items.set(key, item);
  }
  const reasons = new Set(all.flatMap(({ reason }) => reason ?? []));
  return {
    status: all.every(({ status }) => status === 'ok') ? 'ok' : 'failing',
    failing: Math.max(items.size, ...all.map(({ failing }) => failing)),
    items: [...items.values()].sort((a, b) => a.since - b.since).slice(0, most),
    ...(reasons.size > 0 && { reason: [...reasons].join(' ') }),
  };
}
