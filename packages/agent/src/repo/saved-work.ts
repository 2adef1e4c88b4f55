import type { RunFiles } from '../run-files.ts';

/** Bytes of one file. The worker of an isolated process holds one file of it in memory. */
const PART_BYTES = 1_024 * 1_024;

/** Writes a file, in parts where it is large: `name`, `name.2`, `name.3` and so on. Answers how many there are. */
export async function putParts(files: RunFiles, name: string, data: Uint8Array): Promise<number> {
  const count = Math.max(1, Math.ceil(data.length / PART_BYTES));
  for (let part = 0; part < count; part += 1)
    await files.put(partName(name, part), data.subarray(part * PART_BYTES, (part + 1) * PART_BYTES));
  return count;
}

/** Null where a part is missing. */
export async function getParts(files: RunFiles, name: string, count: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  for (let part = 0; part < count; part += 1) {
    const data = await files.get(partName(name, part));
    if (data === null) return null;
    parts.push(data);
  }
  return Buffer.concat(parts);
}

const partName = (name: string, part: number): string => (part === 0 ? name : `${name}.${part + 1}`);

interface State {
  /** Address of the repository. */
  url: string;
  /** The commit that the conversation began from. */
  base: string;
  /** The bundle of the work, and in how many parts it is; null where nothing had changed. */
  bundle: { name: string; parts: number } | null;
  /** The commit that was about to be pushed. */
  pushed: string | null;
  /** What the agent was to mend when the last run ended. */
  problems: string | null;
}

/** What the runs of a job hand on to each other besides the conversation, which it belongs to. */
export class SavedWork {
  readonly #files: RunFiles;
  readonly #folder: string;
  #state: State;

  private constructor(files: RunFiles, folder: string, state: State) {
    this.#files = files;
    this.#folder = folder;
    this.#state = state;
  }

  /** What an earlier run has left; the state of a first run where that was about another repository. */
  static async open(files: RunFiles, sessionId: string, url: string): Promise<SavedWork> {
    const folder = `repository/${sessionId}`;
    const data = await files.get(`${folder}/state.json`);
    const found = data === null ? null : (JSON.parse(Buffer.from(data).toString('utf8')) as State);
    const first: State = { url, base: '', bundle: null, pushed: null, problems: null };
    return new SavedWork(files, folder, found?.url === url ? found : first);
  }

  get base(): string | undefined {
    return this.#state.base || undefined;
  }

  get pushed(): string | null {
    return this.#state.pushed;
  }

  get problems(): string | null {
    return this.#state.problems;
  }

  async bundle(): Promise<Uint8Array | null> {
    const { bundle } = this.#state;
    return bundle && (await getParts(this.#files, bundle.name, bundle.parts));
  }

  /** Durable when it answers. Null: nothing differs from the base. */
  async saveBundle(bundle: Uint8Array | null): Promise<void> {
    if (bundle === null) return await this.note({ bundle: null });
    // Two by turns: a run that is killed in between leaves the last one whole.
    const number = this.#state.bundle?.name.endsWith('work-1.bundle') ? 2 : 1;
    const name = `${this.#folder}/work-${number}.bundle`;
    const parts = await putParts(this.#files, name, bundle);
    await this.note({ bundle: { name, parts } });
  }

  async note(facts: Partial<Pick<State, 'base' | 'bundle' | 'pushed' | 'problems'>>): Promise<void> {
    this.#state = { ...this.#state, ...facts };
    await this.#files.put(`${this.#folder}/state.json`, Buffer.from(JSON.stringify(this.#state)));
  }
}
