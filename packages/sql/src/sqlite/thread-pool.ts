import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { WaybillError } from '@waybill/core';
import { THREAD } from './embedded-thread.ts';
import type { ToThread } from './protocol.ts';

/** How this module's name ends while it is a file beside `thread`; in a bundle it is not, and the thread comes as text. */
const ENDING = /\/sqlite\/thread-pool(\.ts|\.js)$/.exec(String(import.meta.url))?.[1];

/** Not the flags of the process, some of which a worker refuses. Node 22 still calls its SQLite experimental. */
const FLAGS = ['--disable-warning=ExperimentalWarning'];

/** A thread that does nothing costs some 20 MB. */
const IDLE_MS = 1_000;
const idle = new Map<Worker, NodeJS.Timeout>();

/**
 * A thread without a database, one that was used before if there is one. Where stores come and go, as in tests, this
 * saves most of the time that it takes to open one; and ending hundreds of threads in one process now and then makes
 * V8 abort the whole of it (`Check failed: jit_page.has_value()`, seen in Node 24 by others too).
 */
export function takeThread(): Worker {
  const [used] = idle.keys();
  if (used === undefined) return start();
  leave(used);
  return used;
}

/** Its database is closed and nobody listens to it. */
export function giveBack(thread: Worker): void {
  thread.unref();
  idle.set(thread, setTimeout(() => end(thread), IDLE_MS).unref());
}

export async function endIdleThreads(): Promise<void> {
  const threads = [...idle.keys()];
  const gone = threads.map((thread) => once(thread, 'exit'));
  for (const thread of threads) end(thread);
  await Promise.all(gone);
}

function end(thread: Worker): void {
  leave(thread);
  thread.postMessage({ end: true } satisfies ToThread);
}

function leave(thread: Worker): void {
  clearTimeout(idle.get(thread));
  idle.delete(thread);
}

function start(): Worker {
  const options = { name: 'waybill-sqlite', execArgv: FLAGS };
  const thread =
    ENDING === undefined
      ? new Worker(threadText(), { ...options, eval: true })
      : new Worker(new URL(`./thread${ENDING}`, import.meta.url), options);
  // One that dies while it has nothing to do is missed by nobody.
  thread.on('exit', () => leave(thread));
  thread.on('error', () => {});
  return thread;
}

function threadText(): string {
  if (THREAD !== null) return THREAD;
  throw new WaybillError('internal', 'This build of @waybill/sql has no SQLite thread in it.', {
    hint: 'Build it with: npm run build',
  });
}
