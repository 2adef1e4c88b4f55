import { appendFileSync, mkdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunFiles } from '../run-files.ts';
import type { Redactor } from '../security/redactor.ts';

const SUMMARY = 'logs/summary.log';
const PATCH = 'artifacts/changes.patch';
const TRACE = 'traces/session_trace.json';

/** Name of the file with the result, below `artifacts`. */
export const RESULT_FILE = 'task-result.json';

const LONGEST_LINE = 2_000;

/** What a run leaves for people: `{base}/{requestId}/` with artifacts, logs and traces. */
export class RunFolder {
  readonly path: string;
  readonly #name: string;
  readonly #result: string;
  readonly #redactor: Redactor;

  constructor(base: string, requestId: string, redactor: Redactor, resultFile: string = RESULT_FILE) {
    this.#name = requestId.slice(0, LONGEST_NAME);
    this.path = join(base, this.#name);
    this.#result = `artifacts/${resultFile}`;
    this.#redactor = redactor;
    for (const name of ['artifacts', 'logs', 'traces']) mkdirSync(join(this.path, name), { recursive: true });
  }

  /** Adds a line to the summary. At once, so that the summary of a killed run tells how far it came. */
  note(line: string): void {
    const shown = this.#redactor.text(line, LONGEST_LINE).replace(/\n/g, ' ');
    appendFileSync(join(this.path, SUMMARY), `${new Date().toISOString()} ${shown}\n`);
  }

  async writeResult(result: unknown): Promise<void> {
    await this.#write(this.#result, this.#redactor.withoutKnown(result));
  }

  /** Kept with the job by who made it, because it may be large. */
  async writePatch(patch: Uint8Array): Promise<void> {
    await writeFile(join(this.path, PATCH), patch);
  }

  async writeTrace(trace: unknown): Promise<void> {
    await this.#write(TRACE, trace);
  }

  /** Copies what is there to the files of the job, as `task/logs/{requestId}/artifacts/..`. */
  async keepIn(files: RunFiles): Promise<void> {
    for (const name of [this.#result, SUMMARY, TRACE]) {
      const data = await readFile(join(this.path, name)).catch(() => null);
      if (data !== null) await files.put(`task/logs/${this.#name}/${name}`, data);
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async #write(name: string, value: unknown): Promise<void> {
    await writeFile(join(this.path, name), `${JSON.stringify(value, null, 2)}\n`);
  }
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
