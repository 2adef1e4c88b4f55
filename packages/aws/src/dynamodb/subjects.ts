import { countedAs, type LogEvent, numbered, type SubjectEventType, type Told } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { type Item, type Key, number } from './items.ts';
import { subjectKey } from './keys.ts';
import type { MarkRule } from './mark-trimmer.ts';
import { hasMark, unlessFenced, withMarks } from './marks.ts';
import { fence } from './orphans.ts';
import { secondsOf } from './rows.ts';
import { type Settings, unusedMsOf } from './settings.ts';
import type { Write } from './writes.ts';

/** Together they are well below 1 KB. The newest ones are more than what one call tells of a subject. */
export const SUBJECT_MARKS: MarkRule = { most: 64, newest: 32 };

/** A subject that facts are told of, as its item was read. Without a count the item is but the fence of a reader. */
interface Subject {
  key: Key;
  item: Item | undefined;
  /** Which of the facts are about it. */
  places: number[];
  told: Told[];
}

const countIn = (item: Item | undefined): number => (item && number(item, 'n')) ?? 0;

/**
 * Facts about what is not a job, each a change of its own in the log. They are numbered by the counts of their subjects,
 * which are read before the log is opened and go up in the transaction of whatever is told: so whoever was faster
 * refuses it, and the facts are to be read anew.
 */
export class Facts {
  /** To be written into the log. */
  readonly events: readonly LogEvent[][];
  readonly #subjects: readonly Subject[];

  private constructor(subjects: readonly Subject[]) {
    this.#subjects = subjects;
    const events: LogEvent[][] = [];
    for (const { item, places, told } of subjects) {
      for (const [nth, place] of places.entries()) events[place] = [numbered(told[nth]!, countIn(item) + nth)];
    }
    this.events = events;
  }

  static async read(base: Base, told: readonly Told[]): Promise<Facts> {
    if (told.length === 0) return new Facts([]);
    const bySubject = [...Map.groupBy(told.keys(), (place) => lineOf(told[place]!)).values()];
    const keys = bySubject.map(([first]) => subjectKey(countedAs(told[first!]!)));
    const items = await base.db.getAll(keys);
    return new Facts(
      bySubject.map((places, index) => ({
        key: keys[index]!,
        item: items[index],
        places,
        told: places.map((place) => told[place]!),
      })),
    );
  }

  /** Counts the facts, given the marks of their changes: one write for each subject. */
  writes({ settings }: Base, marks: readonly string[]): Write[] {
    return this.#subjects.map(({ key, item, places, told }) => {
      const own = places.map((place) => marks[place]!);
      const x = expiryOf(told.at(-1)!, settings);
      const n = countIn(item) + places.length;
      // Appended, because marks that are not needed any more may be taken out at any moment. A mere fence has none, and
      // may expire.
      const marked = countIn(item) > 0 ? { set: { n }, append: { ev: own } } : { set: { n, ev: own } };
      const change = x === null ? { ...marked, remove: ['x'] } : { ...marked, set: { ...marked.set, x } };
      // Positions go up, so a fence that lets the first one through lets all of them through.
      return { update: key, change, if: unlessFenced(own[0]!, equals('n', item?.['n'] ?? null)) };
    });
  }

  /** To be called when the writes are in. */
  trimLater({ marks: trimmer }: Base, marks: readonly string[]): void {
    for (const { key, item, places } of this.#subjects) {
      const own = places.map((place) => marks[place]!);
      trimmer.trimLater(key, withMarks(item, own), SUBJECT_MARKS, own.length);
    }
  }

  /**
   * What has become of facts after a transaction with their writes was refused. `told`: it went in after all. `outdated`:
   * somebody else has told of one of the subjects, so these facts never can be told.
   */
  async standing(base: Base, marks: readonly string[]): Promise<'told' | 'outdated' | 'open'> {
    const items = await base.db.getAll(this.#subjects.map(({ key }) => key));
    if (this.#subjects.some(({ places }, index) => hasMark(items[index], marks[places[0]!]!))) return 'told';
    const isOutdated = this.#subjects.some(({ item }, index) => countIn(item) !== countIn(items[index]));
    return isOutdated ? 'outdated' : 'open';
  }

  /** Makes sure that the refused transaction never goes in: a copy of it may still be on its way. False: it went in. */
  async areLost(base: Base, marks: readonly string[]): Promise<boolean> {
    const standing = await this.standing(base, marks);
    if (standing !== 'open') return standing === 'outdated';
    const { key, places } = this.#subjects[0]!;
    return fence(base, key, marks[places[0]!]!);
  }
}

/** The line of this process in which whoever tells of a subject stands. */
export const lineOf = (told: Told): string => `subject ${JSON.stringify(countedAs(told))}`;

/** A workflow that was resumed has its time before it. */
const GOES_ON: SubjectEventType = 'workflow.resumed';

/** In seconds. Longer than the events are kept, so that no number is given twice in anybody's sight. */
function expiryOf({ type, at }: Told, settings: Settings): number | null {
  return type === GOES_ON ? null : secondsOf(at + unusedMsOf(settings));
}
