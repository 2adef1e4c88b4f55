import type { Session } from './session.ts';

/** Notices that another process has written: SQLite keeps a number for that, and asking for it costs next to nothing. */
export class Watch {
  readonly #session: Session;
  readonly #everyMs: number;
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | undefined;
  #seen: number | undefined;

  constructor(session: Session, everyMs: number, onChange: () => void) {
    this.#session = session;
    this.#everyMs = everyMs;
    this.#onChange = onChange;
    this.#seen = this.#version();
  }

  set(on: boolean): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    // What changed while nobody listened is told too: a hint too many does no harm.
    if (on) this.#timer = setInterval(() => this.#look(), this.#everyMs);
  }

  #look(): void {
    const version = this.#version();
    if (version === this.#seen) return;
    this.#seen = version;
    this.#onChange();
  }

  /** A file that is locked right now tells later. */
  #version(): number | undefined {
    try {
      return this.#session.sql['data-version'].get<[number]>()?.[0];
    } catch {
      return this.#seen;
    }
  }
}
