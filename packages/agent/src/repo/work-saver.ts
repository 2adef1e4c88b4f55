import type { RunRepository } from './run-repository.ts';
import type { SavedWork } from './saved-work.ts';

/** Saving takes at most about a tenth of the time, however large the repository is. */
const PAUSE_PER_COST = 9;

/** Saves the work in progress with the files of the job, one save after another. A save that fails ends nothing. */
export class WorkSaver {
  readonly #repository: RunRepository;
  readonly #saved: SavedWork;
  readonly #failed: (error: unknown) => void;
  #last: string | undefined;
  #saving: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #notBefore = 0;
  #isOver = false;

  constructor(repository: RunRepository, saved: SavedWork, failed: (error: unknown) => void) {
    this.#repository = repository;
    this.#saved = saved;
    this.#failed = failed;
  }

  /** Something may have changed: it is saved soon. */
  request(): void {
    if (this.#isOver) return;
    this.#timer ??= setTimeout(() => void this.now(), Math.max(0, this.#notBefore - performance.now()));
  }

  /** Resolves when everything up to this call is saved, or has failed to be. */
  async now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving = this.#saving.then(() => this.#save()).catch((error: unknown) => this.#failed(error));
    await this.#saving;
  }

  /** Resolves when no save is under way, and none follows. */
  async stop(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#saving;
  }

  async #save(): Promise<void> {
    const startedAt = performance.now();
    try {
      const tree = await this.#repository.tree();
      if (tree === this.#last) return;
      const isBase = await this.#repository.isBase(tree);
      await this.#saved.saveBundle(isBase ? null : await this.#repository.bundleOf(tree));
      this.#last = tree;
    } finally {
      const now = performance.now();
      this.#notBefore = now + PAUSE_PER_COST * (now - startedAt);
    }
  }
}
