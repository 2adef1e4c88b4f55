import type { SdkHooks } from '../sdk/sdk-types.ts';

const STATES = ['pending', 'in_progress', 'completed'] as const;
export type TodoState = (typeof STATES)[number];

export interface TodoTime {
  content: string;
  state: TodoState;
  /** Milliseconds that the entry has spent so far before it was begun, and being worked on. */
  pendingMs: number;
  inProgressMs: number;
  /** Milliseconds since 1970; null while it is not completed. */
  completedAt: number | null;
}

interface Entry extends TodoTime {
  since: number;
}

/** How long each entry of the agent's to-do list takes: pending, in progress, completed. */
export class TodoTimes {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  readonly #onChange: (todos: TodoTime[]) => void;

  constructor(onChange: (todos: TodoTime[]) => void, now: () => number = Date.now) {
    this.#onChange = onChange;
    this.#now = now;
  }

  /** The tool TodoWrite tells the whole list each time. */
  get hooks(): SdkHooks {
    const hear = async (input: { tool_name: string; tool_response?: { newTodos?: unknown } }) => {
      if (input.tool_name === 'TodoWrite') this.update(input.tool_response?.newTodos);
      return {};
    };
    return { PostToolUse: [{ matcher: 'TodoWrite', hooks: [hear] }] };
  }

  /** An entry that has left the list keeps its times. */
  update(todos: unknown): void {
    if (!Array.isArray(todos)) return;
    const now = this.#now();
    for (const { content, status } of todos as { content?: unknown; status?: unknown }[]) {
      const state = STATES.find((one) => one === status);
      if (typeof content === 'string' && state !== undefined) this.#move(content, state, now);
    }
    this.#onChange(this.times());
  }

  times(): TodoTime[] {
    const now = this.#now();
    return [...this.#entries.values()].map((entry) => {
      const { since: _, ...time } = spentUntil(entry, now);
      return time;
    });
  }

  #move(content: string, state: TodoState, now: number): void {
    const known = this.#entries.get(content);
    const entry = known ?? { content, state, pendingMs: 0, inProgressMs: 0, completedAt: null, since: now };
    const completedAt = state === 'completed' ? (entry.completedAt ?? now) : null;
    this.#entries.set(content, { ...spentUntil(entry, now), state, completedAt });
  }
}

function spentUntil(entry: Entry, now: number): Entry {
  const ms = Math.max(0, now - entry.since);
  return {
    ...entry,
    since: now,
    pendingMs: entry.pendingMs + (entry.state === 'pending' ? ms : 0),
    inProgressMs: entry.inProgressMs + (entry.state === 'in_progress' ? ms : 0),
  };
}
