import { closeSync, constants, lstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunFiles } from '../run-files.ts';
import type { Redactor } from '../security/redactor.ts';

const SUMMARY = 'logs/summary.log';
const PATCH = 'artifacts/changes.patch';
const TRACE = 'traces/session_trace.json';

/** Name of the file with the result, below `artifacts`. */
export const RESULT_FILE = 'task-result.json';

const LONGEST_LINE = 2_000;

/**
 * What a run leaves for people: `{base}/{requestId}/` with artifacts, logs and traces. The agent may replace any file there by a
 * link or by a FIFO. So nothing is written through what it has put there, and what is kept is what Waybill has written.
 */
export class RunFolder {
  readonly path: string;
  readonly #name: string;
  readonly #result: string;
  readonly #redactor: Redactor;
  /** Contents of the files that are kept with the job. */
  readonly #written = new Map<string, string[]>();
  /** The summary, open from the beginning to the end of the run. */
  #log: number | null;

  constructor(base: string, requestId: string, redactor: Redactor, resultFile: string = RESULT_FILE) {
    this.#name = requestId.slice(0, LONGEST_NAME);
    this.path = join(base, this.#name);
    this.#result = `artifacts/${resultFile}`;
    this.#redactor = redactor;
    for (const name of ['artifacts', 'logs', 'traces']) mkdirSync(join(this.path, name), { recursive: true });
    this.#log = openLog(join(this.path, SUMMARY));
    this.#written.set(SUMMARY, []);
  }

  /** Adds a line to the summary. At once, so that the summary of a killed run tells how far it came. */
  note(line: string): void {
    if (this.#log === null) return;
    const shown = `${new Date().toISOString()} ${this.#redactor.text(line, LONGEST_LINE).replace(/\n/g, ' ')}\n`;
    this.#written.get(SUMMARY)!.push(shown);
    writeSync(this.#log, shown);
  }

  async writeResult(result: unknown): Promise<void> {
    await this.#writeKept(this.#result, this.#redactor.withoutKnown(result));
  }

  /** Kept with the job by who made it, because it may be large. */
  async writePatch(patch: Uint8Array): Promise<void> {
    await this.#write(PATCH, patch);
  }

  async writeTrace(trace: unknown): Promise<void> {
    await this.#writeKept(TRACE, trace);
  }

  /** Puts what was written to the files of the job, as `task/logs/{requestId}/artifacts/..`. */
  async keepIn(files: RunFiles): Promise<void> {
    for (const [name, parts] of this.#written) {
      if (parts.length > 0) await files.put(`task/logs/${this.#name}/${name}`, Buffer.from(parts.join('')));
    }
  }

  /** The summary takes no more lines. */
  close(): void {
    if (this.#log !== null) closeSync(this.#log);
    this.#log = null;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async #writeKept(name: string, value: unknown): Promise<void> {
    const text = `${JSON.stringify(value, null, 2)}\n`;
    this.#written.set(name, [text]);
    await this.#write(name, text);
  }

  /** Always a new file. */
  async #write(name: string, data: string | Uint8Array): Promise<void> {
    const path = join(this.path, name);
    await rm(path, { recursive: true, force: true });
    await writeFile(path, data, { flag: 'wx' });
  }
}

/** Goes on with the file of an earlier run under the same name, if it is one. */
function openLog(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) rmSync(path, { recursive: true });
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
}

const UNFIT = /[^\w.-]+/g;
/** No file system takes much more. */
const LONGEST_NAME = 200;

/** A request may come again; a run does not. */
export function requestIdOf({ id, run }: { id: string; run: number }): string {
  const name = id
    .replace(UNFIT, '_')
    .replace(/^\.+/, '_')
    .slice(0, LONGEST_NAME - 20);
  return run <= 1 ? name : `${name}-run-${run}`;
}
