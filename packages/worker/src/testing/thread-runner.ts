import { Worker as Thread } from 'node:worker_threads';
import type { JsonObject } from '@waybill/core';
import type { TaskContext } from '../context.ts';
import { InvalidResult } from '../execute/outcome.ts';
import type { Runner } from '../execute/runner.ts';
import type { EmitOptions, LogOptions, OutputOptions } from '../journal/pending-entry.ts';

type Report =
  | { kind: 'progress'; fraction: number; detail: string }
  | { kind: 'checkpoint'; state: JsonObject }
  | { kind: 'emit'; name: string; data: unknown; options: EmitOptions }
  | { kind: 'output'; data: string | Uint8Array; options: OutputOptions }
  | { kind: 'log'; message: string; fields: object; options: LogOptions };

type End =
  | { kind: 'returned'; json: string }
  | { kind: 'not-json'; problem: string }
  | { kind: 'thrown'; message: string; code: string }
  | { kind: 'thrown-text'; text: string }
  | { kind: 'snooze'; ms: number }
  | { kind: 'discard' | 'cancel'; reason: string };

/** What the thread of a run says. A child process would send the same as lines of JSON. */
export type ThreadMessage = Report | End;

const ABORT_GRACE_MS = 2_000;

/**
 * A runner that shares no memory with its handlers and kills those that ignore their signal. It stands for every runner
 * that is not in this process. Each run has a thread of its own, which does what `behave` does.
 */
export function threadRunner(concurrency: number): Runner {
  const threads = new Set<Thread>();
  return {
    name: 'thread',
    concurrency,
    abortGraceMs: ABORT_GRACE_MS,
    run: ({ input }, { signal }, context) => {
      const { job, attempt, lastCheckpoint } = context;
      const workerData = { input, job: job.id, attempt, lastCheckpoint };
      const thread = new Thread(new URL('./thread-runner-entry.ts', import.meta.url), { workerData });
      threads.add(thread);
      thread.once('exit', () => threads.delete(thread));
      const abort = () => {
        thread.postMessage('abort');
        setTimeout(() => thread.terminate(), ABORT_GRACE_MS / 2).unref();
      };
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      return answerOf(thread, context);
    },
    stop: async () => {
      await Promise.all([...threads].map((thread) => thread.terminate()));
    },
  };
}

function answerOf(thread: Thread, context: TaskContext): Promise<unknown> {
  return new Promise((resolve, reject) => {
    thread.on('message', (message: ThreadMessage) => {
      if (message.kind === 'progress') return context.progress(message.fraction, message.detail);
      if (message.kind === 'checkpoint') return context.checkpoint(message.state);
      if (message.kind === 'emit') return void context.emit(message.name, message.data, message.options);
      if (message.kind === 'output') return context.output(message.data, message.options);
      if (message.kind === 'log') return context.log(message.message, message.fields, message.options);
      try {
        resolve(resultOf(message, context));
      } catch (error) {
        reject(error);
      }
    });
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('The thread ended without an answer.')));
  });
}

/** What the handler returned; throws what the handler threw. */
function resultOf(end: End, context: TaskContext): unknown {
  switch (end.kind) {
    case 'returned':
      return JSON.parse(end.json);
    case 'not-json':
      throw new InvalidResult(end.problem);
    case 'thrown':
      throw Object.assign(new Error(end.message), { code: end.code });
    case 'thrown-text':
      throw end.text;
    case 'snooze':
      return context.snooze(end.ms);
    case 'discard':
      return context.discard(end.reason);
    default:
      return context.cancel(end.reason);
  }
}
