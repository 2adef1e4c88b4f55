import { type Logger, WaybillError } from '@waybill/core';
import {
  type FileStore,
  inProcessRunner,
  isolatedRunner,
  type ReadonlyRunControl,
  type Runner,
  type TaskContext,
  type Validated,
} from '@waybill/worker';

/** The processes of a test, of tasks that have no handler in it. Most tests have none, so the runner is made by the first. */
export class IsolatedRuns {
  readonly #logger: Logger;
  #runner: Runner | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get runner(): Runner {
    this.#runner ??= isolatedRunner({ concurrency: 1, logger: this.#logger });
    return this.#runner;
  }

  async stop(): Promise<void> {
    await this.#runner?.stop();
  }
}

const inProcess = inProcessRunner({ concurrency: 1 });

/** Of one run: a test runs handlers in its own process, whatever runner their task names. What has none is a real process. */
export class KitRunner implements Runner {
  readonly name = 'test';
  readonly concurrency = 1;
  readonly #isolated: IsolatedRuns;
  isProcess = false;

  constructor(isolated: IsolatedRuns) {
    this.#isolated = isolated;
  }

  get abortGraceMs(): number {
    return this.isProcess ? (this.#isolated.runner.abortGraceMs ?? 0) : 0;
  }

  async run(validated: Validated, control: ReadonlyRunControl, context: TaskContext): Promise<unknown> {
    try {
      return await inProcess.run(validated, control, context);
    } catch (error) {
      if (!lacksHandler(error, validated)) throw error;
      this.isProcess = true;
      return this.#isolated.runner.run(validated, control, context);
    }
  }

  async stop(): Promise<void> {}
}

/** What `run` of a task throws that was defined without one: nothing of the task has run by then. */
const lacksHandler = (error: unknown, { task }: Validated): boolean =>
  task.isolate !== undefined &&
  error instanceof WaybillError &&
  error.code === 'unsupported' &&
  error.message.startsWith(`Task '${task.name}' has no 'run'`);

/** A test keeps files of jobs for as long as it goes on. */
export function filesInMemory(): FileStore {
  const files = new Map<string, Uint8Array>();
  return {
    put: async (key, data) => void files.set(key, Uint8Array.from(data)),
    get: async (key) => files.get(key) ?? null,
  };
}
