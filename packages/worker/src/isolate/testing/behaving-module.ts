// The module of the runner contract's task.
import type { TaskContext } from '../../context.ts';
import { type Behaviour, behave } from '../../testing/behave.ts';

export default (input: unknown, context: TaskContext): Promise<unknown> => behave(input as Behaviour, context);
