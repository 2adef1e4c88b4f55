import { spawnSync } from 'node:child_process';
import type { EventType } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { type Ran, Terminal } from './terminal.ts';

export interface ProgramWorker {
  terminal: Terminal;
  /** As Ctrl-C does; answers all that the command has printed. */
  stop(): Promise<Ran>;
}

/** `waybill work` with these options, known to the store; stopped with the test. */
export async function programWorker(store: string, ...options: string[]): Promise<ProgramWorker> {
  const terminal = new Terminal(store);
  const running = terminal.run('work', ...options);
  const stop = () => {
    terminal.interruption.abort();
    return running;
  };
  onTestFinished(async () => void (await stop()));
  const known = new AbortController();
  const refused = running.then(({ err }) => {
    throw new Error(`The worker has ended: ${err}`);
  });
  const started = happened(store, 'worker.started', known.signal);
  await Promise.race([started, refused]);
  known.abort();
  await started;
  return { terminal, stop };
}

/** Resolves when the log of the store has an event of this type, or when the signal is aborted; with the test at the latest. */
export async function happened(store: string, type: EventType, signal?: AbortSignal): Promise<void> {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const signals = signal === undefined ? [over.signal] : [over.signal, signal];
  await new Terminal(store).engine(async ({ events }) => {
    for await (const _ of events.follow({ filter: { types: [type] }, signal: AbortSignal.any(signals) })) return;
  });
}

/** A terminal that waits as long as it is told to, instead of letting its own time pass. */
export function patient(store: string): Terminal {
  const terminal = new Terminal(store);
  terminal.onSleep = (_, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  return terminal;
}

/** Why Python programs cannot be run here; false where they can. */
export const lacksPython = spawnSync('python3', ['-c', '']).status !== 0;
