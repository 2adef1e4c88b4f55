declare const TYPES: unique symbol;

/** What the compiler knows of a task: the input that callers hand in, and what a run comes to. */
export interface TypedTask<Input = unknown, Result = unknown> {
  readonly name: string;
  /** Only for the compiler. */
  readonly [TYPES]?: { input: Input; result: Result };
}

export type TaskInput<T> = T extends TypedTask<infer Input, infer _Result> ? Input : never;
export type TaskResult<T> = T extends TypedTask<infer _Input, infer Result> ? Result : never;
