// One run of `threadRunner`, on the thread's side. Imports next to nothing, so that a thread starts within moments.
import { parentPort, workerData } from 'node:worker_threads';
import type { TaskContext } from '../context.ts';
import { behave } from './behave.ts';
import type { ThreadMessage } from './thread-runner.ts';

const { input, job, attempt, lastCheckpoint } = workerData;
const aborting = new AbortController();
const say = (message: ThreadMessage) => parentPort!.postMessage(message);

/** Thrown to leave the handler, after the parent was told of the outcome that it asks for. */
const ENDING = Symbol('ending');
const ask = (message: ThreadMessage): never => {
  say(message);
  throw ENDING;
};

const context: Partial<TaskContext> = {
  job: { id: job } as TaskContext['job'],
  attempt,
  lastCheckpoint,
  signal: aborting.signal,
  progress: (fraction, detail) => say({ kind: 'progress', fraction, detail: String(detail) }),
  checkpoint: (state) => say({ kind: 'checkpoint', state }),
  // A runner that must tell the handler when a critical entry is safe would wait for an answer here.
  emit: async (name, data, options = {}) => say({ kind: 'emit', name, data, options }),
  output: (data, options = {}) => say({ kind: 'output', data, options }),
  log: (message, fields = {}, options = {}) => say({ kind: 'log', message, fields, options }),
  snooze: (until) => ask({ kind: 'snooze', ms: Number(until) }),
  discard: (reason) => ask({ kind: 'discard', reason }),
  cancel: (reason) => ask({ kind: 'cancel', reason }),
};

class NotJson extends Error {}

const toJson = (value: unknown): string =>
  JSON.stringify(value, (key, one) => {
    if (typeof one !== 'number' || Number.isFinite(one)) return one;
    throw new NotJson(`'${key}' is ${one}`);
  });

parentPort!.on('message', () => aborting.abort());
try {
  say({ kind: 'returned', json: toJson(await behave(input, context as TaskContext)) });
} catch (error) {
  if (error instanceof NotJson) say({ kind: 'not-json', problem: error.message });
  else if (error instanceof Error) say({ kind: 'thrown', message: error.message, code: String(Object(error).code) });
  else if (error !== ENDING) say({ kind: 'thrown-text', text: String(error) });
}
parentPort!.close();
