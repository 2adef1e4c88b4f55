// The entry of the worker thread: all of SQLite happens here, so that neither the disk nor a busy file holds up the
// event loop of the application.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { whileBusy } from './busy.ts';
import { CallLoop } from './call-loop.ts';
import { failureOf } from './failures.ts';
import { openDatabase } from './open.ts';
import type { FromThread, ThreadOptions, ToThread } from './protocol.ts';
import { Session } from './session.ts';
import { Watch } from './watch.ts';

async function serve(port: MessagePort, options: ThreadOptions): Promise<void> {
  const post = (message: FromThread) => port.postMessage(message);
  const db = await whileBusy(options.busyTimeoutMs, () => openDatabase(options));
  const session = new Session(db);
  const loop = new CallLoop(session, options, post);
  const watch = new Watch(session, options.wakeEveryMs, () => post({ changed: true }));
  port.on('message', async (message: ToThread) => {
    if ('verb' in message) return loop.add(message);
    if ('watch' in message) return watch.set(message.watch);
    watch.set(false);
    await loop.idle();
    db.close();
    port.close();
  });
}

const port = parentPort;
if (port === null) throw new Error('This file runs as a worker thread only.');
const options = workerData as ThreadOptions;
serve(port, options).catch((error: unknown) => {
  port.postMessage({ failure: failureOf(error, options.path) } satisfies FromThread);
  port.close();
});
