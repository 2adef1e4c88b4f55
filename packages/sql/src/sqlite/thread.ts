// The entry of the worker thread: all of SQLite happens here, so that neither the disk nor a busy file holds up the
// event loop of the application. It serves one store at a time, and the next one when that is closed.
import { type MessagePort, parentPort } from 'node:worker_threads';
import { whileBusy } from './busy.ts';
import { CallLoop } from './call-loop.ts';
import { failureOf } from './failures.ts';
import { openDatabase } from './open.ts';
import type { FromThread, ThreadOptions, ToThread } from './protocol.ts';
import { Session } from './session.ts';
import { NOTHING, Watch } from './watch.ts';

interface Served {
  loop: CallLoop;
  watch: Watch;
  close(): Promise<void>;
}

async function serve(options: ThreadOptions, post: (message: FromThread) => void): Promise<Served> {
  const db = await whileBusy(options.busyTimeoutMs, () => openDatabase(options));
  const session = new Session(db);
  const loop = new CallLoop(session, options, post);
  const watch = new Watch(session, options.wakeEveryMs, post);
  const close = async () => {
    watch.set(NOTHING);
    await loop.idle();
    db.close();
  };
  return { loop, watch, close };
}

function listen(port: MessagePort): void {
  const post = (message: FromThread) => port.postMessage(message);
  let served: Promise<Served | null> = Promise.resolve(null);
  port.on('message', async (message: ToThread) => {
    if ('end' in message) return port.close();
    if ('open' in message) {
      served = serve(message.open, post).catch((error: unknown) => {
        post({ failure: failureOf(error, message.open.path) });
        return null;
      });
      return;
    }
    // In the order in which they came: whoever waits for the same promise goes on in that order.
    const serving = served;
    // Whatever comes after it finds no store.
    if ('close' in message) served = Promise.resolve(null);
    const store = await serving;
    if ('close' in message) {
      await store?.close();
      post({ closed: true });
    } else if ('verb' in message) store?.loop.add(message);
    else store?.watch.set(message.watch);
  });
}

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
listen(parentPort);
