/** Tells what is heard in one turn of the event loop as one. */
export class Burst {
  readonly #read: (payload: string | undefined) => string[] | null;
  readonly #tell: (names?: readonly string[]) => void;
  /** What was heard in this turn; null means anything, undefined that nothing was. */
  #heard: Set<string> | null | undefined;

  /** `read` answers the names in a payload; null: it may concern any. */
  constructor(read: (payload: string | undefined) => string[] | null, tell: (names?: readonly string[]) => void) {
    this.#read = read;
    this.#tell = tell;
  }

  hear(payload: string | undefined): void {
    const names = this.#read(payload);
    if (names?.length === 0) return;
    if (this.#heard === undefined) {
      this.#heard = new Set();
      // Whatever else the socket had for us is read by then.
      process.nextTick(() => this.#end());
    }
    if (names === null) this.#heard = null;
    else for (const name of names) this.#heard?.add(name);
  }

  #end(): void {
    const heard = this.#heard;
    this.#heard = undefined;
    this.#tell(heard ? [...heard] : undefined);
  }
}
