import type { Surface } from '../surface.ts';
import type { StreamKind } from './observer.ts';
import { SlowReader } from './slow-reader.ts';

/** Whose readers may take nothing for a while and no longer. A worker that works on its jobs is not slow. */
const BOUNDED: ReadonlySet<StreamKind> = new Set(['journal', 'output']);

interface OpenStreamParts {
  kind: StreamKind;
  surface: Pick<Surface, 'clock' | 'logger' | 'slowReaderMs' | 'streamObserver'>;
  requestId: string;
  /** Whether the reader has taken all that was sent. */
  hasRoom(): boolean;
  /** Ends the connection of a reader that took nothing, so that it cannot take this for the end of what it follows. */
  cut(): void;
}

/** One stream while it is open, of HTTP or RPC: counted, and cut off where its reader takes nothing for too long. */
export class OpenStream {
  readonly #parts: OpenStreamParts;
  readonly #slow: SlowReader | undefined;
  #isOver = false;

  constructor(parts: OpenStreamParts) {
    const { kind, surface, hasRoom } = parts;
    const { clock, slowReaderMs: patienceMs } = surface;
    this.#parts = parts;
    if (BOUNDED.has(kind)) this.#slow = new SlowReader({ clock, patienceMs, hasRoom, giveUp: () => this.#cutOff() });
    surface.streamObserver?.opened?.({ kind });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Called before each message. */
  sending(): void {
    this.#slow?.sending();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#slow?.stop();
    this.#parts.surface.streamObserver?.closed?.({ kind: this.#parts.kind });
  }

  #cutOff(): void {
    if (this.#isOver) return;
    const { kind, surface, requestId, cut } = this.#parts;
    surface.streamObserver?.cutOff?.({ kind });
    surface.logger.warn({ request_id: requestId, kind }, 'Cut off a reader that took nothing; it may resume.');
    cut();
  }
}
