import { setImmediate as nextTurn } from 'node:timers/promises';
import { whileBusy } from './busy.ts';
import { failureOf, isBusy } from './failures.ts';
import { FileCheck } from './file-check.ts';
import type { Answer, Call, FromThread, ThreadOptions } from './protocol.ts';
import type { Session } from './session.ts';
import { VERBS, writes } from './verbs.ts';

/** Calls that share a transaction at most, so that the first of them does not wait for long. */
const MOST_CALLS = 16;

/**
 * Answers calls in the order in which they came. What has come in while a transaction ran shares the next one: a
 * commit waits for the disk, and one wait serves them all. Nobody is answered before the commit.
 */
export class CallLoop {
  readonly #session: Session;
  readonly #options: ThreadOptions;
  readonly #file: FileCheck;
  readonly #post: (message: FromThread) => void;
  readonly #waiting: Call[] = [];
  #running: Promise<void> | null = null;

  constructor(session: Session, options: ThreadOptions, post: (message: FromThread) => void) {
    this.#session = session;
    this.#options = options;
    this.#file = new FileCheck(options.path);
    this.#post = post;
  }

  add(call: Call): void {
    this.#waiting.push(call);
    this.#running ??= this.#run();
  }

  /** Resolves once every call was answered. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // On the next turn, everything that was sent together has arrived.
    for (await nextTurn(); this.#waiting.length > 0; await nextTurn()) {
      await this.#answer(this.#waiting.splice(0, MOST_CALLS));
    }
    this.#running = null;
  }

  /**
   * When a shared transaction fails, nothing of it is in the file, and each call gets a transaction of its own: one
   * that the disk has no room for does not refuse those that fit. A file that stayed locked would only be waited for
   * again.
   */
  async #answer(calls: readonly Call[]): Promise<void> {
    try {
      this.#post(await whileBusy(this.#options.busyTimeoutMs, () => this.#transact(calls)));
    } catch (error) {
      if (calls.length > 1 && !isBusy(error)) {
        for (const call of calls) await this.#answer([call]);
        return;
      }
      const failure = failureOf(error, this.#options.path);
      this.#post({ answers: calls.map(({ id }) => ({ id, failure })), woken: [] });
    }
  }

  #transact(calls: readonly Call[]): FromThread {
    const session = this.#session;
    this.#file.assertThere();
    session.begin(calls.some(({ verb }) => writes(verb)) ? 'immediate' : 'deferred');
    try {
      const answers = calls.length === 1 ? [this.#perform(calls[0]!)] : calls.map((call) => this.#performApart(call));
      const woken = session.commit();
      return { answers, woken, ...session.grown };
    } catch (error) {
      session.rollback();
      throw error;
    }
  }

  #perform({ id, verb, input }: Call): Answer {
    return { id, output: VERBS[verb](this.#session, input as never) };
  }

  /** One call's failure leaves no trace of it and does not concern the others, unless it ended their transaction. */
  #performApart(call: Call): Answer {
    try {
      return writes(call.verb) ? this.#session.attempt(() => this.#perform(call)) : this.#perform(call);
    } catch (error) {
      // In a transaction that is gone, the calls that follow would each commit alone and without their events.
      if (isBusy(error) || !this.#session.isOpen) throw error;
      return { id: call.id, failure: failureOf(error, this.#options.path) };
    }
  }
}
