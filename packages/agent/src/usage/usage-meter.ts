import type { SdkApiEvent, SdkAssistant, SdkMessage } from '../sdk/sdk-messages.ts';
import { costOf, type PriceTable } from './prices.ts';
import { added, type UseByModel } from './spent.ts';
import { fromApi, type TokenUsage } from './token-usage.ts';

/** Characters of output for a token, so many that an estimate is rather too low: it must not end an agent too early. */
const CHARACTERS_PER_TOKEN = 6;

/** What the CLI says itself in the place of an answer. */
const SYNTHETIC = '<synthetic>';

type Heard = 'same' | 'changed' | 'ended';

interface Answer {
  model: string;
  usage: TokenUsage;
  /** Of its output so far. */
  characters: number;
  /** The true numbers have come. */
  isFinal: boolean;
}

/**
 * What one query uses, as it uses it. An answer counts from its first event on, because an answer that is cut off is paid
 * for as well; its output is estimated until the true number comes. The answers of subagents come without their end.
 */
export class UsageMeter {
  readonly #answers = new Map<string, Answer>();
  /** Of these those of the main conversation that came without a stream. */
  readonly #whole = new Set<string>();
  readonly #prices: PriceTable;
  #current: Answer | undefined;
  #stopReason: string | null = null;
  #tools: string[] = [];
  #turns = 0;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(prices: PriceTable = {}) {
    this.#prices = prices;
  }

  /** Answers whether the numbers have changed: 'ended' where those of an answer of the main conversation are complete. */
  hear(message: SdkMessage): Heard {
    if (message.type === 'stream_event' && 'event' in message) return this.#hearEvent(message.event);
    if (message.type !== 'assistant' || !('message' in message)) return 'same';
    return message.parent_tool_use_id === null ? this.#hearWhole(message) : this.#hearSubagent(message);
  }

  get byModel(): UseByModel {
    return [...this.#answers.values()].reduce<UseByModel>((models, { model, usage }) => {
      return added(models, { [model]: { usage, costUsd: costOf(usage, model, this.#prices) } });
    }, {});
  }

  /** Resolves at the end of the answer that comes in: a tool may be asked for before it, and its numbers come last. */
  async answered(): Promise<void> {
    if (this.#current === undefined || this.#current.isFinal) return;
    this.#ended ??= Promise.withResolvers();
    await this.#ended.promise;
  }

  /** Answers of the main conversation. */
  get turns(): number {
    return this.#turns;
  }

  /** Whether the answer that has just ended was the last one: it asks for no tool but the one that takes the output. */
  get isLastAnswer(): boolean {
    if (this.#stopReason === null) return false;
    return this.#stopReason !== 'tool_use' || this.#tools.every((name) => name === 'StructuredOutput');
  }

  #hearEvent({ type, message, delta, usage, content_block }: SdkApiEvent): Heard {
    if (type === 'message_start' && message !== undefined) {
      if (this.#answers.has(message.id)) return 'same';
      const used = fromApi(message.usage ?? {});
      this.#begin(message.id, { model: message.model, usage: used, characters: 0, isFinal: false });
      return 'changed';
    }
    const current = this.#current;
    if (current === undefined || current.isFinal) return 'same';
    if (type === 'content_block_start' && content_block?.type === 'tool_use') {
      this.#tools.push(content_block.name ?? '');
      return 'same';
    }
    if (type === 'content_block_delta') {
      current.characters += (delta?.text ?? delta?.partial_json ?? delta?.thinking ?? '').length;
      return estimate(current) ? 'changed' : 'same';
    }
    if (type !== 'message_delta' || usage === undefined) return 'same';
    this.#stopReason = delta?.stop_reason ?? 'end_turn';
    // Some servers leave out of the last event what the first has told.
    const last = fromApi(usage);
    current.usage = {
      ...current.usage,
      ...Object.fromEntries(Object.entries(last).filter(([, tokens]) => tokens > 0)),
      outputTokens: last.outputTokens,
    };
    current.isFinal = true;
    this.#tellEnd();
    return 'ended';
  }

  #begin(id: string, answer: Answer): void {
    this.#answers.set(id, answer);
    this.#tellEnd();
    [this.#current, this.#stopReason, this.#tools] = [answer, null, []];
    this.#turns += 1;
  }

  /** An answer that came without a stream has its true numbers at once. Its blocks come one by one, each with all of them. */
  #hearWhole({ message }: SdkAssistant): Heard {
    const { id, model, usage, content, stop_reason } = message;
    if (usage === undefined || model === SYNTHETIC) return 'same';
    const isNew = !this.#answers.has(id);
    if (!isNew && !this.#whole.has(id)) return 'same';
    if (isNew) {
      this.#whole.add(id);
      this.#begin(id, { model, usage: fromApi(usage), characters: 0, isFinal: true });
      this.#stopReason = stop_reason ?? 'end_turn';
    }
    for (const { type, name } of content) if (type === 'tool_use') this.#tools.push(name ?? '');
    return isNew ? 'ended' : 'same';
  }

  #tellEnd(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
  }

  #hearSubagent({ message }: SdkAssistant): Heard {
    if (message.usage === undefined || message.model === SYNTHETIC) return 'same';
    const known = this.#answers.get(message.id);
    const answer = known ?? { model: message.model, usage: fromApi(message.usage), characters: 0, isFinal: false };
    this.#answers.set(message.id, answer);
    answer.characters += JSON.stringify(message.content).length;
    estimate(answer);
    return 'changed';
  }
}

function estimate(answer: Answer): boolean {
  const outputTokens = Math.max(answer.usage.outputTokens, Math.floor(answer.characters / CHARACTERS_PER_TOKEN));
  const isMore = outputTokens > answer.usage.outputTokens;
  answer.usage = { ...answer.usage, outputTokens };
  return isMore;
}
