import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { systemClock } from '@waybill/core';

export interface Output {
  /** Text, or bytes as they are. */
  write(text: string | Uint8Array): unknown;
}

/** Somebody at a terminal, who can answer questions and likes to see that something is going on. */
export interface Person {
  ask(question: string): Promise<string>;
  /** Replaces the line that was shown before; the empty text takes it away. */
  progress(text: string): void;
}

/** Everything of the process that a command may touch, so that a test can be the process. */
export interface Io {
  stdout: Output;
  stderr: Output;
  /** All that comes in by stdin, as text. */
  input(): Promise<string>;
  /** Whether stdout is a terminal: decides about colour. */
  isTty: boolean;
  /** Whether stderr is a terminal: logs there are for people. */
  isErrTty: boolean;
  /** How many columns the terminal has at this moment; undefined where stdout is none. Nothing is cut there. */
  columns(): number | undefined;
  /** How many lines the terminal has at this moment; undefined where stdout is none. */
  rows(): number | undefined;
  now(): number;
  /** Resolves after so long, or as soon as the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Resolves when the reader of stdout has room: before that, more output would pile up in memory. */
  drained(): Promise<void>;
  env: Readonly<Record<string, string | undefined>>;
  /** Absent where nobody could answer: in scripts and pipes. */
  person?: Person;
  /** Aborted by Ctrl-C or SIGTERM. Until a command asks for it, they end the process as usual. */
  interrupted(): AbortSignal;
  /** Resolves with an error that nothing has caught. Until a command asks for it, such an error ends the process as usual. */
  uncaught(): Promise<unknown>;
}

export function processIo(): Io {
  // Whoever reads our output may stop early (`| head`); that is no failure of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  let interrupted: AbortSignal | undefined;
  let uncaught: Promise<unknown> | undefined;
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    input: () => text(process.stdin),
    isTty: process.stdout.isTTY === true,
    isErrTty: process.stderr.isTTY === true,
    columns: () => (process.stdout.isTTY ? process.stdout.columns : undefined),
    rows: () => (process.stdout.isTTY ? process.stdout.rows : undefined),
    now: systemClock.now,
    sleep: systemClock.sleep,
    drained: () =>
      new Promise((resolve) => {
        if (process.stdout.writableNeedDrain) process.stdout.once('drain', resolve);
        else resolve();
      }),
    env: process.env,
    ...(process.stdin.isTTY && process.stderr.isTTY && { person }),
    interrupted: () => {
      interrupted ??= untilInterrupted();
      return interrupted;
    },
    uncaught: () => {
      uncaught ??= firstUncaught();
      return uncaught;
    },
  };
}

/** Listens once: a second Ctrl-C ends the process at once. */
function untilInterrupted(): AbortSignal {
  const aborter = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => aborter.abort());
  return aborter.signal;
}

/** How long the process may take to end after an error that nothing has caught. */
const ENDS_WITHIN_MS = 15_000;

/** Rejections that nobody handles come here too. A second error does not wait for the end that the first one has begun. */
function firstUncaught(): Promise<unknown> {
  return new Promise((resolve) => {
    process.once('uncaughtException', (error) => {
      process.on('uncaughtException', () => process.exit(1));
      setTimeout(() => process.exit(1), ENDS_WITHIN_MS).unref();
      resolve(error);
    });
  });
}

const person: Person = {
  ask: async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
  progress: (text) => void process.stderr.write(`\r\u001b[K${text}`),
};
