/**
 * Lines of this process: who names the same thing goes one after the other, in the order of asking. Between processes
 * the conditions of the writes decide; this only spares rivals under one roof their lost writes.
 */
export class Locks {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** All names at once and first come, first served, so that nobody can wait for somebody who waits for him. */
  run<T>(names: Iterable<string>, work: () => Promise<T>): Promise<T> {
    const own = [...new Set(names)];
    const before = own.map((name) => this.#tails.get(name));
    const mine = Promise.all(before).then(work);
    const tail = mine.then(
      () => {},
      () => {},
    );
    for (const name of own) this.#tails.set(name, tail);
    void tail.then(() => {
      for (const name of own) if (this.#tails.get(name) === tail) this.#tails.delete(name);
    });
    return mine;
  }
}

/** The lines of a claim: those who take from one queue, and under a limit of the tenant all who take from any of its queues. */
export const claimLines = (tenant: string, queue: string, isTenantLimited: boolean): string[] => [
  `queue ${tenant} ${queue}`,
  ...(isTenantLimited ? [`tenant ${tenant}`] : []),
];

/** The line of everybody who has to do with a limit. */
export const limitLine = (tenant: string, key: string): string => `limit ${tenant} ${key}`;
