import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The processes that work, each of which may be killed and replaced. */
export class WorkerFleet {
  readonly #entry: string;
  readonly #settings: string;
  /** Each with its first word, after which it knows what SIGTERM means. */
  readonly #alive = new Map<ChildProcess, Promise<unknown>>();
  readonly #watchers = new Set<() => void>();
  readonly #told = new Set<unknown>();
  #rescues = 0;
  #ended = 0;
  /** How a process ended that was not told to. */
  #death: Error | undefined;

  /** `entry` is the built file of the worker, relative to the built tests. */
  constructor(entry: string, settings: object) {
    this.#entry = fileURLToPath(new URL(`../../dist/testing/${entry}`, import.meta.url));
    this.#settings = JSON.stringify(settings);
  }

  /** Runs that came to their end, as far as was told. */
  get ended(): number {
    return this.#ended;
  }

  start(): void {
    const child = fork(this.#entry, [this.#settings], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#alive.set(child, once(child, 'message'));
    child.on('message', (kind) => {
      this.#told.add(kind);
      if (kind === 'end') this.#ended += 1;
      if (kind === 'rescue') this.#rescues += 1;
      for (const look of this.#watchers) look();
    });
    child.on('exit', (code, signal) => {
      if (this.#alive.delete(child)) this.#death = new Error(`A worker died: code ${code}, signal ${signal}.`);
      for (const look of this.#watchers) look();
    });
  }

  /** Kills one without a warning, and starts another in its place. */
  killOne(choose: (count: number) => number): void {
    const child = this.#choose(choose);
    this.#alive.delete(child);
    child.kill('SIGKILL');
    this.start();
  }

  /** Pauses one, as a machine that sleeps does, until another has taken over one of its jobs. */
  async pauseOne(choose: (count: number) => number): Promise<void> {
    const child = this.#choose(choose);
    // One that has nothing in hand would leave nothing to take over.
    while ((await once(child, 'message'))[0] !== 'start');
    const before = this.#rescues;
    child.kill('SIGSTOP');
    await this.#until(() => this.#rescues > before);
    child.kill('SIGCONT');
  }

  /** Resolves when that many more runs have ended; rejects when a worker died that should not have. */
  progress(runs: number): Promise<void> {
    const goal = this.#ended + runs;
    return this.#until(() => this.#ended >= goal);
  }

  /** Whether any process, dead or alive, has said this. */
  hasTold(kind: string): boolean {
    return this.#told.has(kind);
  }

  /** Resolves when one of them has said this; rejects when a worker died that should not have. */
  told(kind: string): Promise<void> {
    return this.#until(() => this.hasTold(kind));
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isTrue() && this.#death === undefined) return;
        this.#watchers.delete(look);
        if (this.#death) reject(this.#death);
        else resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  #choose(choose: (count: number) => number): ChildProcess {
    return [...this.#alive.keys()][choose(this.#alive.size)]!;
  }

  /** Answers the exit codes. */
  async stop(signal: NodeJS.Signals): Promise<(number | null)[]> {
    const children = [...this.#alive];
    this.#alive.clear();
    const exits = children.map(async ([child, firstWord]) => {
      if (signal !== 'SIGKILL') await firstWord;
      const exit = once(child, 'exit');
      child.kill(signal);
      const [code] = (await exit) as [number | null];
      return code;
    });
    return Promise.all(exits);
  }
}
