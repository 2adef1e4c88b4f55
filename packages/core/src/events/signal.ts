/** Lets any number of waiters sleep until something happens. Ringing costs nothing while nobody waits. */
export class Signal {
  #waited: AbortController | undefined;

  /** Aborted at the next ring. Take it before looking, then nothing is missed in between. */
  next(): AbortSignal {
    this.#waited ??= new AbortController();
    return this.#waited.signal;
  }

  ring(): void {
    const rung = this.#waited;
    this.#waited = undefined;
    // With a reason: without one, each abort makes an exception with a stack that nobody looks at.
    rung?.abort('rung');
  }
}
