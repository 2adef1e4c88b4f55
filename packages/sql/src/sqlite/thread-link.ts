import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Logger, Roster, type WakeListener, WaybillError } from '@waybill/core';
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
} from './protocol.ts';

const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);

/** Not the flags of the process, some of which a worker refuses. Node 22 still calls its SQLite experimental. */
const FLAGS = ['--disable-warning=ExperimentalWarning'];

interface Pending {
  resolve(output: never): void;
  reject(error: WaybillError): void;
}

/** The main thread's end: sends calls, hands out answers, and replaces a thread that died. */
export class ThreadLink {
  readonly #options: ThreadOptions;
  readonly #logger: Logger;
  readonly #pending = new Roster<number, Pending>();
  readonly #listeners = new Set<WakeListener>();
  #worker: Worker | null = null;
  #nextId = 1;
  /** Why calls are refused from now on. */
  #refusal: string | null = null;
  #closing: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;

  constructor(options: ThreadOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
  }

  call<V extends Verb>(verb: V, input: Input<V>): Promise<Output<V>> {
    if (this.#refusal !== null) return Promise.reject(new WaybillError('unavailable', this.#refusal));
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise<Output<V>>((resolve, reject) => {
      const id = this.#nextId++;
      worker.postMessage({ id, verb, input } satisfies ToThread);
      // An unused store does not keep the process alive, a call under way does.
      if (this.#pending.size === 0) worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
  }

  onWake(listener: WakeListener): () => void {
    // Wrapped, so that the same function may subscribe twice.
    const own: WakeListener = (queues) => listener(queues);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#watch(true);
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#watch(false);
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
    const gone = once(worker, 'exit');
    worker.postMessage({ close: true } satisfies ToThread);
    await gone;
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, {
      workerData: this.#options,
      name: 'waybill-sqlite',
      execArgv: FLAGS,
    });
    worker.unref();
    let hasAnswered = false;
    let crash: unknown;
    worker.on('message', (message: FromThread) => {
      if ('failure' in message) this.#couldNotOpen(worker, errorOf(message.failure));
      else if ('changed' in message) this.#wake();
      else {
        hasAnswered = true;
        this.#settle(worker, message.answers);
        if (message.woken.length > 0) this.#wake(message.woken);
      }
    });
    worker.on('error', (error) => {
      crash = error;
    });
    worker.on('exit', () => this.#ended(worker, crash, hasAnswered));
    if (this.#listeners.size > 0) worker.postMessage({ watch: true } satisfies ToThread);
    return worker;
  }

  /** The next call tries again. */
  #couldNotOpen(worker: Worker, error: WaybillError): void {
    if (this.#worker === worker) this.#worker = null;
    this.#rejectAll(error);
  }

  /** A thread that ends by itself has crashed. One that never worked is tried again with the next call only. */
  #ended(worker: Worker, cause: unknown, hasAnswered: boolean): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    if (this.#closing !== null && this.#pending.size === 0) return;
    const { path } = this.#options;
    this.#logger.error({ path, cause }, 'The SQLite thread ended unexpectedly.');
    if (path === IN_MEMORY) this.#refusal ??= 'The SQLite thread ended unexpectedly, and the database with it.';
    this.#rejectAll(new WaybillError('unavailable', 'The SQLite thread ended unexpectedly.', { cause }));
    if (!hasAnswered || this.#refusal !== null) return;
    this.#worker ??= this.#start();
    this.#wake();
  }

  #settle(worker: Worker, answers: readonly Answer[]): void {
    for (const { id, output, failure } of answers) {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
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

  #watch(on: boolean): void {
    this.#worker?.postMessage({ watch: on } satisfies ToThread);
  }

  #wake(queues?: readonly string[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(queues);
      } catch (error) {
        this.#logger.error({ error }, 'A listener of the SQLite store failed.');
      }
    }
  }
}
