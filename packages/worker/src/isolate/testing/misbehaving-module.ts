// The module of a task whose handler misbehaves as its input says.
import { type AnyTask, task } from '../../task.ts';

const HUGE = 5_000_000;

/** `timeout` only where the run needs one: on a busy machine Node takes its time to start. */
export const misbehaving = (name: string, env: Readonly<Record<string, string>>, timeout?: number): AnyTask =>
  task(name, {
    isolate: { module: import.meta.url, env, ...(timeout !== undefined && { timeout }) },
    retry: { max_attempts: 1 },
  }) as AnyTask;

export default (way: unknown): unknown => {
  if (way === 'huge') return 'x'.repeat(HUGE);
  if (way === 'no-json') return { count: 1n };
  for (;;);
};
