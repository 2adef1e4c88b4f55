import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { engine, type Outcome, systemClock, type Waybill } from '@waybill/core';
import { onTestFinished } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import type { Io } from '../io.ts';
import { run } from '../main.ts';

/** Where test time begins. */
export const EPOCH = Date.UTC(2030, 0, 1);

export interface Ran {
  code: number;
  out: string;
  err: string;
  /** What `out` was before its ids were named. */
  raw: string;
  /** What was really written. */
  bytes: Buffer;
}

/** A process of its own for each call, on one store, with ids that read the same in every run. */
export class Terminal {
  now = EPOCH;
  isTty = false;
  isErrTty = false;
  /** Of the terminal; undefined: a pipe. */
  columns: number | undefined;
  rows: number | undefined;
  /** How long the command has waited, each time; nobody waits for that in a test. */
  waits: number[] = [];
  env: Record<string, string> = {};
  /** What a person answers; nobody is there when it is undefined. */
  answer: string | undefined;
  asked: string[] = [];
  /** What comes in by stdin. */
  stdin = '';
  progress: string[] = [];
  interruption = new AbortController();
  /** What nothing has caught. */
  crash = Promise.withResolvers<unknown>();
  onOutput: (text: string) => void = () => {};
  onSleep: (ms: number, signal: AbortSignal) => Promise<void> | void = () => {};
  onError: (text: string) => void = () => {};
  readonly store: string;
  readonly #ids: string[] = [];

  constructor(store = `sqlite:${path.join(folder(), 'test.db')}`) {
    this.store = store;
  }

  async run(...args: string[]): Promise<Ran> {
    let err = '';
    const written: Buffer[] = [];
    const { answer } = this;
    const io: Io = {
      stdout: {
        write: (text: string | Uint8Array) => {
          written.push(Buffer.from(text as string));
          this.onOutput(String(written.at(-1)));
        },
      },
      stderr: {
        write: (text: string | Uint8Array) => {
          const told = String(Buffer.from(text as string));
          err += told;
          this.onError(told);
        },
      },
      input: async () => this.stdin,
      isTty: this.isTty,
      isErrTty: this.isErrTty,
      columns: () => this.columns,
      rows: () => this.rows,
      now: () => this.now,
      sleep: async (ms, signal) => {
        if (signal.aborted) return;
        this.waits.push(ms);
        this.now += ms;
        await this.onSleep(ms, signal);
      },
      drained: async () => {},
      env: { WAYBILL_STORE: this.store, ...this.env },
      ...(answer !== undefined && {
        person: {
          ask: async (question: string) => {
            this.asked.push(question);
            return answer;
          },
          progress: (text: string) => void this.progress.push(text),
        },
      }),
      interrupted: () => this.interruption.signal,
      uncaught: () => this.crash.promise,
    };
    const code = await run(args, io);
    const bytes = Buffer.concat(written);
    const raw = String(bytes);
    return { code, out: this.stable(raw), err: this.stable(err), raw, bytes };
  }

  /** What is printed, with its exit code in front of it unless all went well. */
  async text(...args: string[]): Promise<string> {
    const { code, out, err } = await this.run(...args);
    return `\n${code === 0 ? '' : `exit ${code}\n`}${out}${err}`;
  }

  async json(...args: string[]): Promise<unknown> {
    const { out } = await this.run(...args, '--json');
    return JSON.parse(out);
  }

  /** The id that `stable` calls by this number. */
  id(number: number): string {
    return this.#ids[number - 1]!;
  }

  /** Names ids in the order in which they first appear. */
  stable(text: string): string {
    return text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!this.#ids.includes(id)) this.#ids.push(id);
      return `ID-${this.#ids.indexOf(id) + 1}`.padEnd(36, '.');
    });
  }

  /** The engine on the same store, for what no command does: working. */
  async engine<T>(work: (waybill: Waybill) => Promise<T>): Promise<T> {
    const clock = { ...systemClock, now: () => this.now };
    const waybill = engine({ store: await openStore(this.store, { clock }), maintenance: false });
    try {
      return await work(waybill);
    } finally {
      await waybill.close();
    }
  }

  /** Claims the next job of a queue and settles it. */
  async settle(outcome: Outcome, { queue = 'default', ms = 0 } = {}): Promise<void> {
    await this.engine(async ({ jobs }) => {
      const [lease] = await jobs.claim({ queues: [queue], workerId: 'worker-1' });
      if (lease === undefined) throw new Error('There was nothing to claim.');
      this.now += ms;
      await jobs.settle({ id: lease.job.id, leaseToken: lease.token, outcome });
    });
  }

  /** A job that was given up, with this error. */
  async deadLetter(type: string, code: string, queue = 'default'): Promise<void> {
    const retry = '{"max_attempts":1,"on_exhaustion":"dead_letter"}';
    await this.run('enqueue', type, '--queue', queue, '--retry', retry);
    await this.settle({ kind: 'failed', error: { code, message: `It was ${code}.` } }, { queue });
  }
}

export function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'waybill-cli-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
