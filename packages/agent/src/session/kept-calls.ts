import type { SessionEntry } from '../sdk/sdk-types.ts';

/** Which tool calls of the model are in the kept transcript. */
export class KeptCalls {
  readonly #kept = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  /** These entries are durable. */
  add(entries: readonly SessionEntry[]): void {
    for (const id of entries.flatMap(callsIn)) {
      this.#kept.add(id);
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    }
  }

  /** Resolves when the call is kept. */
  async wait(id: string): Promise<void> {
    if (this.#kept.has(id)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(id, resolve);
    await promise;
  }
}

interface Message {
  content?: string | readonly { type?: unknown; id?: unknown }[];
}

function callsIn({ type, message }: SessionEntry): string[] {
  const { content } = (message ?? {}) as Message;
  if (type !== 'assistant' || !Array.isArray(content)) return [];
  return content.flatMap((block) => (block?.type === 'tool_use' && typeof block.id === 'string' ? [block.id] : []));
}
