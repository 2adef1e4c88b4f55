import type { Worker } from 'node:worker_threads';
import { type GrownListener, type Logger, Places, type WakeListener, WaybillError } from '@waybill/core';
import { errorOf } from './failures.ts';
import {
  type Answer,
  type FromThread,
  IN_MEMORY,
  type Input,
  type Output,
  type ThreadOptions,
  type ToThread,
  type Verb,
  type Watched,
} from './protocol.ts';
import { giveBack, takeThread } from './thread-pool.ts';

interface Pending {
  resolve(output: never): void;
  reject(error: WaybillError): void;
}

/** The main thread's end: sends calls, hands out answers, and replaces a thread that died. */
export class ThreadLink {
  readonly #options: ThreadOptions;
  readonly #logger: Logger;
  readonly #pending = new Places<Pending>();
  readonly #listeners = new Set<WakeListener>();
  readonly #grownListeners = new Set<GrownListener>();
  #worker: Worker | null = null;
  /** Why calls are refused from now on. */
  #refusal: string | null = null;
  #closing: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;
  #onClosed: (() => void) | null = null;
  /** Stops listening to the thread. */
  #leave: () => void = () => {};

  constructor(options: ThreadOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  call<V extends Verb>(verb: V, input: Input<V>): Promise<Output<V>> {
    if (this.#refusal !== null) return Promise.reject(new WaybillError('unavailable', this.#refusal));
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise<Output<V>>((resolve, reject) => {
      // An unused store does not keep the process alive, a call under way does.
      if (this.#pending.size === 0) worker.ref();
      const id = this.#pending.add({ resolve, reject });
      worker.postMessage({ id, verb, input } satisfies ToThread);
    });
  }

  onWake(listener: WakeListener): () => void {
    // Wrapped, so that the same function may subscribe twice.
    return this.#listen(this.#listeners, (queues) => listener(queues));
  }

  onGrown(listener: GrownListener): () => void {
    return this.#listen(this.#grownListeners, (ids) => listener(ids));
  }

  #listen<T>(listeners: Set<T>, own: T): () => void {
    listeners.add(own);
    if (listeners.size === 1) this.#watch();
    return () => {
      if (listeners.delete(own) && listeners.size === 0) this.#watch();
    };
  }

  close(): Promise<void> {
    this.#refusal ??= 'The store is closed.';
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    const worker = this.#worker;
    if (worker === null) return;
    worker.ref();
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      worker.postMessage({ close: true } satisfies ToThread);
    });
  }

  #start(): Worker {
    const worker = takeThread();
    worker.unref();
    let hasAnswered = false;
    let crash: unknown;
    const onMessage = (message: FromThread) => {
      if ('failure' in message) this.#couldNotOpen(worker, errorOf(message.failure));
      else if ('closed' in message) this.#release(worker);
      else if ('changed' in message) this.wake();
      else if (!('answers' in message)) this.#tellGrown(message.grown ?? undefined);
      else {
        hasAnswered = true;
        // The places of calls are given anew, so what a thread says that was replaced is for nobody.
        if (this.#worker !== worker) return;
        this.#settle(worker, message.answers);
        if (message.woken.length > 0) this.wake(message.woken);
        if (message.grown) this.#tellGrown(message.grown);
      }
    };
    const onError = (error: unknown) => {
      crash = error;
    };
    const onExit = () => this.#ended(worker, crash, hasAnswered);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    this.#leave = () => worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    worker.postMessage({ open: this.#options } satisfies ToThread);
    if (this.#listeners.size + this.#grownListeners.size > 0)
      worker.postMessage({ watch: this.#watched() } satisfies ToThread);
    return worker;
  }

  /** The next call tries again. */
  #couldNotOpen(worker: Worker, error: WaybillError): void {
    this.#release(worker);
    this.#rejectAll(error);
  }

  /** It has no database any more, so others may use it. */
  #release(worker: Worker): void {
    if (this.#worker === worker) this.#worker = null;
    this.#leave();
    giveBack(worker);
    this.#onClosed?.();
  }

  /** A thread that ends by itself has crashed. One that never worked is tried again with the next call only. */
  #ended(worker: Worker, cause: unknown, hasAnswered: boolean): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#onClosed?.();
    if (this.#closing !== null && this.#pending.size === 0) return;
    const { path } = this.#options;
    this.#logger.error({ path, cause }, 'The SQLite thread ended unexpectedly.');
    if (path === IN_MEMORY) this.#refusal ??= 'The SQLite thread ended unexpectedly, and the database with it.';
    this.#rejectAll(new WaybillError('unavailable', 'The SQLite thread ended unexpectedly.', { cause }));
    if (!hasAnswered || this.#refusal !== null) return;
    this.#worker ??= this.#start();
    this.wake();
    this.#tellGrown();
  }

  #settle(worker: Worker, answers: readonly Answer[]): void {
    for (const { id, output, failure } of answers) {
      const pending = this.#pending.take(id);
      if (failure) pending?.reject(errorOf(failure));
      else pending?.resolve(output as never);
    }
    if (this.#pending.size > 0) return;
    worker.unref();
    this.#onIdle?.();
  }

  #rejectAll(error: WaybillError): void {
    for (const { reject } of this.#pending.all()) reject(error);
    this.#pending.clear();
    this.#onIdle?.();
  }

  #watched(): Watched {
    return { jobs: this.#listeners.size > 0, journals: this.#grownListeners.size > 0 };
  }

  #watch(): void {
    this.#worker?.postMessage({ watch: this.#watched() } satisfies ToThread);
  }

  /** Without names: whatever waits. */
  wake(queues?: readonly string[]): void {
    this.#tellAll(this.#listeners, queues);
  }

  #tellGrown(ids?: readonly string[]): void {
    this.#tellAll(this.#grownListeners, ids);
  }

  #tellAll(listeners: ReadonlySet<(names?: readonly string[]) => void>, names: readonly string[] | undefined): void {
    for (const listener of listeners) {
      try {
        listener(names);
      } catch (error) {
        this.#logger.error({ error }, 'A listener of the SQLite store failed.');
      }
    }
  }
}
