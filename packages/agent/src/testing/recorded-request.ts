/** A result of a tool, as the CLI reports it to the model. */
export interface ToolResult {
  id: string;
  /** Of the tool that was called; '' where the call is not among the messages. */
  name: string;
  text: string;
  isError: boolean;
}

/** The body of a request to the Messages API, as far as it is looked at. */
export interface MessagesBody {
  model: string;
  system?: unknown;
  messages: readonly Message[];
  tools?: readonly { name: string }[];
  [field: string]: unknown;
}

interface Message {
  role: string;
  content: string | readonly ContentBlock[];
}

interface ContentBlock {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  tool_use_id?: string;
  content?: unknown;
  is_error?: boolean;
}

/** What the CLI adds to a prompt by itself. */
const REMINDER = /^\s*<system-reminder>/;

/** Stands in every request of the CLI, and no agent can call it. */
const PLACEHOLDER = 'DeferredToolPlaceholder';

/** A request that the model got, with what tests ask of it most. */
export class RecordedRequest {
  /** From 1. */
  readonly number: number;
  readonly body: MessagesBody;
  /** Lower case. Keys and tokens are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of all messages, oldest first. */
  readonly toolResults: readonly ToolResult[];

  constructor(number: number, body: MessagesBody, headers: Readonly<Record<string, string>>) {
    this.number = number;
    this.body = body;
    this.headers = headers;
    this.toolResults = toolResultsIn(body.messages);
  }

  get model(): string {
    return this.body.model;
  }

  /** Ties the requests of one session together. */
  get sessionId(): string {
    return this.headers['x-claude-code-session-id'] ?? '';
  }

  /** Names of the tools that the model is offered. */
  get tools(): string[] {
    return (this.body.tools ?? []).map(({ name }) => name).filter((name) => name !== PLACEHOLDER);
  }

  /** The prompts of the conversation, oldest first, without what the CLI adds to them. */
  get prompts(): string[] {
    return this.body.messages.filter(({ role }) => role === 'user').flatMap(promptsIn);
  }

  /** The newest prompt; '' where there is none. */
  get prompt(): string {
    return this.prompts.at(-1) ?? '';
  }

  /** Whether the messages hold a result of this tool; of any, where none is named. */
  hasToolResult(name?: string): boolean {
    return this.toolResults.some((result) => name === undefined || result.name === name);
  }

  /** The newest result of this tool; of any, where none is named. */
  toolResult(name?: string): ToolResult | undefined {
    return this.toolResults.findLast((result) => name === undefined || result.name === name);
  }
}

const blocksOf = ({ content }: Message): readonly ContentBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const promptsIn = (message: Message): string[] =>
  blocksOf(message)
    .filter(({ type, text }) => type === 'text' && text !== undefined && !REMINDER.test(text))
    .map(({ text }) => text!);

function toolResultsIn(messages: readonly Message[]): ToolResult[] {
  const blocks = messages.flatMap(blocksOf);
  const names = new Map(blocks.filter(({ type }) => type === 'tool_use').map(({ id, name }) => [id, name]));
  return blocks
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id: id = '', content, is_error }) => ({
      id,
      name: names.get(id) ?? '',
      text: textOf(content),
      isError: is_error === true,
    }));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(({ text = '' }: ContentBlock) => text).join('\n');
}
