import { spawnSync } from 'node:child_process';
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
  const reader = new Terminal(store);
  const known = new AbortController();
  const refused = running.then(({ err }) => {
    throw new Error(`The worker has ended: ${err}`);
  });
  const started = reader.engine(async ({ events }) => {
    const filter = { types: ['worker.started' as const] };
    for await (const _ of events.follow({ filter, signal: known.signal })) return;
  });
  await Promise.race([started, refused]);
  known.abort();
  await started;
  return { terminal, stop };
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
