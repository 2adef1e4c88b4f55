import { isLost, RemoteError } from './remote-error.ts';
import { backoffMs, join, type Sleep, sleep } from './waiting.ts';

const MOST = 4;

/** Whom to tell of a call that takes long, beside what it was told to wait. */
export interface SlowCalls {
  afterMs: number;
  tell(): void;
}

export interface AttemptsOptions {
  /** The address of the server, for messages. */
  server: string;
  timeoutMs?: number | undefined;
  sleep?: Sleep | undefined;
  slow?: SlowCalls | undefined;
}

export interface AttemptOptions {
  /** Whether a call whose fate is unknown may be sent again. */
  repeatable: boolean;
  /** Told before each repetition. */
  onRepeat?: (() => void) | undefined;
  /** How much longer than usual the answer may take. @defaultValue 0 */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** How long one attempt may take: of the whole call, what those before it have left. */
interface Bound {
  allowedMs: number;
  leftMs: number;
}

/** Sends one attempt. What it is sent with ends with the signal; `leftMs` is for those who tell the server. */
export type Send<T> = (signal: AbortSignal, leftMs: number) => Promise<T>;

/** Deadlines and repetitions of the calls to one server, whatever protocol they are sent by. */
export class Attempts {
  readonly sleep: Sleep;
  /** How long a call may take with all its repetitions, and how long a stream may take to open. */
  readonly timeoutMs: number;
  readonly #server: string;
  readonly #slow: SlowCalls | undefined;
  readonly #closing = new AbortController();
  readonly #underway = new Set<Promise<unknown>>();

  constructor(options: AttemptsOptions) {
    this.#server = options.server;
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.sleep = options.sleep ?? sleep;
    this.#slow = options.slow;
  }

  /** Aborted by `close`, for those who would go on for long. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Takes no more calls and waits for those under way: what became of a settle must not be left in the dark. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#underway.size === 0) return;
    await Promise.allSettled(this.#underway);
    // Their callers, a few promises away, have the answers before the client counts as closed.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }

  async run<T>(options: AttemptOptions, send: Send<T>): Promise<T> {
    if (this.closing.aborted) throw new RemoteError({ code: 'unavailable', message: 'This client was closed.' });
    const running = this.#run(options, send);
    this.#underway.add(running);
    try {
      return await running;
    } finally {
      this.#underway.delete(running);
    }
  }

  async #run<T>({ repeatable, onRepeat, waitMs = 0, signal }: AttemptOptions, send: Send<T>): Promise<T> {
    const away = join(signal, this.closing);
    const slow = this.#slow && setTimeout(this.#slow.tell, this.#slow.afterMs + waitMs);
    // One deadline over all attempts: a server that swallows every call would else be waited for as often as it is asked.
    const allowedMs = this.timeoutMs + waitMs;
    const begun = performance.now();
    const leftMs = () => allowedMs - (performance.now() - begun);
    try {
      for (let failures = 0; ; failures += 1) {
        if (failures > 0) onRepeat?.();
        try {
          return await this.#attempt({ allowedMs, leftMs: Math.max(0, leftMs()) }, signal, send);
        } catch (error) {
          if (!repeatable || !isLost(error) || failures + 1 >= MOST) throw error;
          const pauseMs = backoffMs(failures);
          if (leftMs() <= pauseMs) throw error;
          await this.sleep(pauseMs, away.signal);
          if (away.signal.aborted) throw error;
        }
      }
    } finally {
      clearTimeout(slow);
      away.leave();
    }
  }

  /** Raced against the deadline: a fetch of the caller's own, or what it reads from, may take no notice of its signal. */
  async #attempt<T>({ allowedMs, leftMs }: Bound, signal: AbortSignal | undefined, send: Send<T>): Promise<T> {
    const late = join(signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(tooLate(this.#server, allowedMs));
        late.abort();
      }, leftMs);
    });
    try {
      return await Promise.race([send(late.signal, leftMs), deadline]);
    } finally {
      clearTimeout(timer);
      late.leave();
    }
  }
}

export const tooLate = (server: string, ms: number): RemoteError =>
  new RemoteError({ code: 'timeout', message: `The server ${server} has not answered within ${ms} ms.` });
