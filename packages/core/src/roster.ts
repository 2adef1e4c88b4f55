import { Places } from './places.ts';

/** Those who are here right now, by key, in the order in which they came. Why it is no Map of them: see `Places`. */
export class Roster<Key, Thing> {
  readonly #placeOf = new Map<Key, number>();
  readonly #places = new Places<Thing>();

  get size(): number {
    return this.#placeOf.size;
  }

  get(key: Key): Thing | undefined {
    const place = this.#placeOf.get(key);
    return place === undefined ? undefined : this.#places.at(place);
  }

  set(key: Key, thing: Thing): void {
    const place = this.#placeOf.get(key);
    if (place === undefined) this.#placeOf.set(key, this.#places.add(thing));
    else this.#places.replace(place, thing);
  }

  /** Answers whether it was here. */
  delete(key: Key): boolean {
    const place = this.#placeOf.get(key);
    if (place === undefined) return false;
    this.#placeOf.delete(key);
    this.#places.take(place);
    return true;
  }

  /** The key that came first. */
  oldest(): Key | undefined {
    return this.#placeOf.keys().next().value;
  }

  all(): Thing[] {
    return Array.from(this.#placeOf.values(), (place) => this.#places.at(place)!);
  }
}
