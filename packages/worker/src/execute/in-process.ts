import { IN_PROCESS } from '../task.ts';
import type { Runner } from './runner.ts';

export interface InProcessOptions {
  /** @defaultValue 'in-process' */
  name?: string;
  /** Handlers at a time. */
  concurrency: number;
}

/** Calls handlers in this process. They cannot be killed: an aborted one that ignores its signal is abandoned. */
export const inProcessRunner = ({ name = IN_PROCESS, concurrency }: InProcessOptions): Runner => ({
  name,
  concurrency,
  run: ({ task, input }, _control, context) => task.run(input, context),
  stop: async () => {},
});
