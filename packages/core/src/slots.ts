/**
 * Things that come and go by the thousand, each under a number while it is here. A Map or a Set that is used so makes
 * itself a new table again and again, and V8's collector of young objects takes whatever the old tables hold for
 * alive: all that ever passed through is then copied and kept until the next full collection. An array that stays the
 * same holds only what is here.
 */
export class Slots<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  add(item: T): number {
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    return slot;
  }

  get(slot: number): T | undefined {
    return this.#items[slot];
  }

  remove(slot: number): void {
    this.#items[slot] = undefined;
    this.#free.push(slot);
  }

  /** In no order. */
  all(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}

/** The same by a key, for which a Map holds nothing but the number. */
export class SlotMap<T> {
  readonly #slots = new Slots<T>();
  readonly #slotOf = new Map<string, number>();

  get size(): number {
    return this.#slotOf.size;
  }

  get(key: string): T | undefined {
    const slot = this.#slotOf.get(key);
    return slot === undefined ? undefined : this.#slots.get(slot);
  }

  set(key: string, item: T): void {
    this.delete(key);
    this.#slotOf.set(key, this.#slots.add(item));
  }

  delete(key: string): void {
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return;
    this.#slotOf.delete(key);
    this.#slots.remove(slot);
  }

  /** The key that was set first. */
  oldest(): string | undefined {
    return this.#slotOf.keys().next().value;
  }

  /** In no order. */
  all(): T[] {
    return this.#slots.all();
  }
}
