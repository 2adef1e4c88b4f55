import type { Logger } from '@waybill/core';
import type { RunHandover } from './isolated-program.ts';
import { type ModuleProcess, type ModuleProcesses, type ModuleStart, startModule } from './module-process.ts';

/** Keeps so many processes of one task loaded ahead of need; each is used for one run. */
export class WarmProcesses implements ModuleProcesses {
  readonly #start: ModuleStart;
  readonly #logger: Logger;
  readonly #size: number;
  readonly #idle = new Set<ModuleProcess>();
  #starting = 0;
  #failures = 0;
  #isStopped = false;

  constructor(start: ModuleStart, logger: Logger) {
    this.#start = start;
    this.#logger = logger;
    this.#size = start.isolate.warm;
    this.#fill();
  }

  async take(run: RunHandover): Promise<ModuleProcess> {
    // One that has just died is still among them until all of it is gone.
    const ready = [...this.#idle].find(({ process }) => process.isRunning);
    if (ready !== undefined) this.#idle.delete(ready);
    this.#failures = 0;
    this.#fill();
    return ready ?? startModule(run);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const left = [...this.#idle];
    for (const { process } of left) process.kill('cancelled');
    await Promise.all(left.map(({ process }) => process.ended));
  }

  #fill(): void {
    // A module that cannot be loaded is not started over and over: the next run tells why.
    while (!this.#isStopped && this.#failures === 0 && this.#idle.size + this.#starting < this.#size) {
      this.#starting += 1;
      void this.#add();
    }
  }

  async #add(): Promise<void> {
    try {
      const made = await startModule(this.#start);
      this.#idle.add(made);
      void made.process.ended.then(({ message }) => this.#ended(made, message));
      if (this.#isStopped) made.process.kill('cancelled');
    } catch (error) {
      this.#failed(String(error));
    } finally {
      this.#starting -= 1;
    }
  }

  /** Processes that have a run are not in the set any more. */
  #ended(made: ModuleProcess, why: string): void {
    if (!this.#idle.delete(made)) return;
    made.clear().catch((error: unknown) => {
      this.#logger.warn({ task: this.#start.task.name, err: error }, 'Could not remove the folder of a warm process.');
    });
    if (!this.#isStopped) this.#failed(why);
  }

  #failed(why: string): void {
    this.#failures += 1;
    const { task } = this.#start;
    this.#logger.warn(
      { task: task.name, reason: why },
      `A warm process of task '${task.name}' ended before it had a run.`,
    );
  }
}
