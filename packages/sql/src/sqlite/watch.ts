import { grownSince, lastPosition } from './journal.ts';
import type { FromThread, Watched } from './protocol.ts';
import type { Session } from './session.ts';

export const NOTHING: Watched = { jobs: false, journals: false };

/** Notices that another process has written: SQLite keeps a number for that, and asking for it costs next to nothing. */
export class Watch {
  readonly #session: Session;
  readonly #everyMs: number;
  readonly #post: (message: FromThread) => void;
  #watched = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #seen: number | undefined;
  /** The last position of a journal that was told of; undefined: not known, so the next look tells of all. */
  #position: number | undefined;

  constructor(session: Session, everyMs: number, post: (message: FromThread) => void) {
    this.#session = session;
    this.#everyMs = everyMs;
    this.#post = post;
    this.#seen = this.#version();
  }

  set(watched: Watched): void {
    // Who follows a journal reads it after this call, and misses nothing before this position.
    if (watched.journals && !this.#watched.journals)
      this.#position = this.#unlessLocked(() => lastPosition(this.#session));
    this.#watched = watched;
    clearInterval(this.#timer);
    this.#timer = undefined;
    // What changed while nobody listened is told too: a hint too many does no harm.
    if (watched.jobs || watched.journals) this.#timer = setInterval(() => this.#look(), this.#everyMs);
  }

  #look(): void {
    const version = this.#version();
    if (version === this.#seen) return;
    if (this.#watched.journals && !this.#tellGrown()) return;
    this.#seen = version;
    if (this.#watched.jobs) this.#post({ changed: true });
  }

  /** False: the file is locked right now, and has to be looked at again. */
  #tellGrown(): boolean {
    const from = this.#position;
    const grown = this.#unlessLocked(() =>
      from === undefined ? { pos: lastPosition(this.#session) } : grownSince(this.#session, from),
    );
    if (grown === undefined) return false;
    this.#position = grown.pos;
    if (grown.ids?.length !== 0) this.#post({ grown: grown.ids ?? null });
    return true;
  }

  /** A file that is locked right now tells later. */
  #version(): number | undefined {
    return this.#unlessLocked(() => this.#session.sql['data-version'].get<[number]>()?.[0]) ?? this.#seen;
  }

  #unlessLocked<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch {
      return undefined;
    }
  }
}
