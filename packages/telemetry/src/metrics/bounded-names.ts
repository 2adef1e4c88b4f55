const MOST_NAMES = 200;
const OTHER = 'other';

/**
 * Values of one attribute. Names come from producers, so there may be any number of them, and each is a series that
 * the SDK keeps for ever: those beyond the first 200 are counted together.
 */
export class BoundedNames {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= MOST_NAMES) return OTHER;
    this.#known.add(name);
    return name;
  }
}
