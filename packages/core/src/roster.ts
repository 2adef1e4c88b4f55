/**
 * Those who are here right now, by key, in the order in which they came. For what comes and goes by the thousand.
 *
 * A Map of the things themselves would keep them far longer than they are in it: each table that a Map has outgrown
 * points to its next one, so once one table is old, all that passes through the Map outlives the young generation (of
 * 16 MB that a draining worker allocated, 12 were promoted). So the Map here has small numbers for values, and the
 * things stand in places that are used again.
 */
export class Roster<Key, Thing> {
  readonly #placeOf = new Map<Key, number>();
  readonly #things: (Thing | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#placeOf.size;
  }

  get(key: Key): Thing | undefined {
    const place = this.#placeOf.get(key);
    return place === undefined ? undefined : this.#things[place];
  }

  set(key: Key, thing: Thing): void {
    const place = this.#placeOf.get(key) ?? this.#free.pop() ?? this.#things.length;
    this.#placeOf.set(key, place);
    this.#things[place] = thing;
  }

  /** Answers whether it was here. */
  delete(key: Key): boolean {
    const place = this.#placeOf.get(key);
    if (place === undefined) return false;
    this.#placeOf.delete(key);
    this.#things[place] = undefined;
    this.#free.push(place);
    return true;
  }

  clear(): void {
    this.#placeOf.clear();
    this.#things.length = 0;
    this.#free.length = 0;
  }

  /** The key that came first. */
  oldest(): Key | undefined {
    return this.#placeOf.keys().next().value;
  }

  all(): Thing[] {
    return Array.from(this.#placeOf.values(), (place) => this.#things[place]!);
  }
}
