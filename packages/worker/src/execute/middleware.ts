import type { TaskContext } from '../context.ts';
import type { AnyTask } from '../task.ts';

/** Wraps every handler, whichever runner it has; `next` runs the next middleware or the handler itself. */
export type Middleware = (
  call: { task: AnyTask; input: unknown; context: TaskContext },
  next: () => Promise<unknown>,
) => Promise<unknown>;

/** Runs `handler` inside of all middleware, the first one outermost. */
export function wrapped(
  call: Parameters<Middleware>[0],
  middleware: readonly Middleware[],
  handler: () => unknown,
): Promise<unknown> {
  const step = async (index: number): Promise<unknown> => {
    const wrap = middleware[index];
    return wrap ? wrap(call, () => step(index + 1)) : handler();
  };
  return step(0);
}
