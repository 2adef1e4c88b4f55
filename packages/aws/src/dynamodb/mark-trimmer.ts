import { all, holdsAt } from './conditions.ts';
import type { Database } from './database.ts';
import type { Item, Key } from './items.ts';
import { confirmKey, segmentKey } from './keys.ts';
import { positionOf } from './marks.ts';
import { isGone } from './rows.ts';
import type { Settings } from './settings.ts';

/** Items that a process looks through at once. One more waits for a later change of it. */
const MOST_AT_ONCE = 4;
/** Marks that are looked through in one go: as many as one read and one expression of DynamoDB take. */
const MOST_PER_LOOK = 100;
/** An item is looked through again after so many more marks: most of what was left belongs to writers that are silent. */
const EVERY = 8;

export interface MarkRule {
  /** Up to so many marks an item is not looked through. */
  most: number;
  /** Of the newest ones so many stay in any case: their writers may still have to know their own write by them. */
  newest: number;
}

/**
 * Takes marks out of items that the log has no more use for, so that items do not grow for ever. A mark has done its work
 * when its segment is confirmed or has expired; one of a change without events, when its writer has its answer. How many
 * changes came later says nothing: nobody may read the log for hours, and whoever then does decides by the marks.
 *
 * It works beside the calls, and never fails or delays one: what goes wrong here is done after a later change of the item.
 */
export class MarkTrimmer {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #settle: (position: number, segment: Item) => Promise<boolean>;
  readonly #underWay = new Map<string, Promise<void>>();
  #isClosed = false;

  /** `settle` decides about a segment whose writer has been silent for too long, and answers whether it did. */
  constructor(db: Database, settings: Settings, settle: (position: number, segment: Item) => Promise<boolean>) {
    this.#db = db;
    this.#settings = settings;
    this.#settle = settle;
  }

  /** `marks` is what the item has after a write that has added so many. */
  trimLater(key: Key, marks: readonly string[], { most, newest }: MarkRule, added = 1): void {
    const { length } = marks;
    if (length <= most || Math.floor(length / EVERY) === Math.floor((length - added) / EVERY)) return;
    const name = `${key.pk}\n${key.sk}`;
    if (this.#isClosed || this.#underWay.has(name) || this.#underWay.size >= MOST_AT_ONCE) return;
    const trimmed = this.#trim(key, marks.slice(0, -newest).slice(0, MOST_PER_LOOK))
      .catch((err: unknown) => {
        this.#settings.logger.debug({ err, item: name }, 'Marks of the log could not be taken out of an item.');
      })
      .finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, trimmed);
  }

  /** Waits for what is under way, and begins nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#underWay.values());
  }

  /**
   * Writers only append, so the places of old marks stay what they are until they are taken out. The condition names what
   * stands there: marks that come in between are safe, and if another process was faster nothing happens.
   */
  async #trim(key: Key, old: readonly string[]): Promise<void> {
    const settled = await this.#settledOf(new Set(old.map(positionOf).filter((position) => position !== null)));
    const places = [...old.keys()].filter((place) => {
      const position = positionOf(old[place]!);
      return position === null || settled.has(position);
    });
    if (places.length === 0) return;
    const isAsRead = all(...places.map((place) => holdsAt('ev', place, old[place]!)));
    await this.#db.write({ update: key, change: { removeAt: { ev: places } }, if: isAsRead });
  }

  async #settledOf(positions: ReadonlySet<number>): Promise<Set<number>> {
    const asked = [...positions];
    // A late read finds a confirmation too few, which costs a look.
    const confirmed = await this.#db.getAll(asked.map(confirmKey), { strong: false });
    const settled = new Set(asked.filter((_, index) => confirmed[index] !== undefined));
    for (const position of asked) {
      if (!settled.has(position) && (await this.#isOver(position))) settled.add(position);
    }
    return settled;
  }

  /** A segment that seemed to be open. It was written ahead of its marks, so what is not there has expired. */
  async #isOver(position: number): Promise<boolean> {
    const [segment, confirmed] = await this.#db.getAll([segmentKey(position), confirmKey(position)]);
    if (confirmed || !segment || isGone(segment, this.#settings.clock.now())) return true;
    return this.#settle(position, segment);
  }
}
