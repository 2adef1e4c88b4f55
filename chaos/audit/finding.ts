import type { Evidence } from '../evidence/evidence.ts';
import { type History, historiesOf } from './history.ts';

/** What came of looking at one guarantee. */
export interface Finding {
  /** How many things were looked at, and what they are. */
  checked: number;
  things: string;
  /** For people, each with the ids that it is about. */
  violations: string[];
}

/** The evidence, put in order once for all checks. */
export interface World extends Evidence {
  histories: ReadonlyMap<string, History>;
}

export type Check = (world: World) => Finding;

export const worldOf = (evidence: Evidence): World => ({ ...evidence, histories: historiesOf(evidence) });

/** Collects what a check finds. */
export class Tally {
  readonly #things: string;
  readonly #violations: string[] = [];
  #checked = 0;

  constructor(things: string) {
    this.#things = things;
  }

  count(things = 1): void {
    this.#checked += things;
  }

  /** Notes a violation unless it is so. */
  expect(isSo: boolean, violation: () => string): void {
    if (!isSo) this.#violations.push(violation());
  }

  get finding(): Finding {
    return { checked: this.#checked, things: this.#things, violations: this.#violations };
  }
}
