import type { RunFiles } from '../run-files.ts';
import type { SpentState } from './spent.ts';

/**
 * What a job has used, kept with its files after each answer of the model: a checkpoint travels once a second at most, and a
 * run that is killed must not get back what it has used since.
 */
export class KeptSpent {
  /** What an earlier run has left; null where there was none. */
  readonly found: unknown;
  readonly #files: RunFiles;
  readonly #name: string;
  #next: SpentState | undefined;
  #saving: Promise<void> | undefined;

  private constructor(files: RunFiles, name: string, found: unknown) {
    this.#files = files;
    this.#name = name;
    this.found = found;
  }

  static async open(files: RunFiles, sessionId: string): Promise<KeptSpent> {
    const name = `sessions/${sessionId}/spent.json`;
    const data = await files.get(name);
    return new KeptSpent(files, name, data === null ? null : JSON.parse(Buffer.from(data).toString('utf8')));
  }

  /** The newest wins. */
  save(state: SpentState): void {
    this.#next = state;
    this.#saving ??= this.#save();
  }

  /** Resolves when what was given last is durable. A place that takes no files stops the run by its transcript, so this never fails. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  async #save(): Promise<void> {
    for (let state = this.#next; state !== undefined; state = this.#next) {
      this.#next = undefined;
      await this.#files.put(this.#name, Buffer.from(JSON.stringify(state))).catch(() => {});
    }
    this.#saving = undefined;
  }
}
