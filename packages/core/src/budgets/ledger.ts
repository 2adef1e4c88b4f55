import type { Clock } from '../clock.ts';
import { WaybillError } from '../errors.ts';
import type { Told } from '../events/subject-event.ts';
import { budgetLevelReached } from '../events/told.ts';
import type { RecordStore, StoredRecord } from '../store/records.ts';
import { budgetRecord, parseBudgetId } from './budget.ts';
import {
  type BudgetState,
  type Expense,
  infoOf,
  levelToTell,
  stateAfter,
  stateAt,
  stateFromRecord,
  stateToRecord,
} from './budget-state.ts';
import type { BudgetInfo } from './budgets-port.ts';

interface Parts {
  store: { records: RecordStore; clock: Clock };
  /** The log tells more. */
  onTold(): void;
}

interface Waiting {
  expense: Expense;
  resolve(info: BudgetInfo | null): void;
  reject(error: unknown): void;
}

/** A conflict means that another server has written, so this many may spend of one budget at the same moment. */
const MOST_TRIES = 200;

/** Writes what runs spend into their budgets: calls of this process that meet at one budget share a write. */
export class Ledger {
  readonly #parts: Parts;
  /** By record; there only while something waits. */
  readonly #lanes = new Map<string, Waiting[]>();
  readonly #running = new Set<Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null: the budget is no more. */
  add(tenant: string, id: string, expense: Expense): Promise<BudgetInfo | null> {
    return new Promise((resolve, reject) => {
      const lane = `${tenant} ${id}`;
      const waiting = this.#lanes.get(lane);
      if (waiting) {
        waiting.push({ expense, resolve, reject });
        return;
      }
      this.#lanes.set(lane, [{ expense, resolve, reject }]);
      const running = this.#run(lane, tenant, id).finally(() => this.#running.delete(running));
      this.#running.add(running);
    });
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #run(lane: string, tenant: string, id: string): Promise<void> {
    for (;;) {
      const waiting = this.#lanes.get(lane)!.splice(0);
      if (waiting.length === 0) break;
      try {
        const info = await this.#write(
          tenant,
          id,
          waiting.map(({ expense }) => expense),
        );
        for (const { resolve } of waiting) resolve(info);
      } catch (error) {
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#lanes.delete(lane);
  }

  /** The write that passes a level tells of it, so that each level of a period is told once. */
  async #write(tenant: string, id: string, expenses: readonly Expense[]): Promise<BudgetInfo | null> {
    const { store, onTold } = this.#parts;
    const key = budgetRecord(tenant, id);
    const subject = parseBudgetId(id);
    let [record] = await store.records.get([key]);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const now = store.clock.now();
      const read = record && stateFromRecord(record.value);
      if (!record || !read) return null;
      const before = stateAt(read, subject, now);
      const after = stateAfter(before, expenses, now) ?? before;
      const level = levelToTell(after);
      const info = infoOf(tenant, subject, after, now);
      if (after === before && level === null) return info;
      const told = level && { told: budgetLevelReached(level, info, expenses.at(-1)!.by.jobId, now) };
      const state = level === null ? after : { ...after, told: level };
      const answer = await this.#put(record, state, told ?? {});
      if (answer.stored) {
        if (told) onTold();
        return info;
      }
      record = answer.record;
    }
    throw new WaybillError('unavailable', `Too many servers spend of the budget '${id}' at once. Try again.`);
  }

  async #put(
    { version: expected, tenant, kind, id }: StoredRecord,
    state: BudgetState,
    told: { told?: Told },
  ): Promise<{ stored: boolean; record: StoredRecord | null }> {
    const value = stateToRecord(state);
    const [answer] = await this.#parts.store.records.put([{ tenant, kind, id, value, expected, ...told }]);
    return { stored: answer!.status === 'stored', record: answer!.record };
  }
}
