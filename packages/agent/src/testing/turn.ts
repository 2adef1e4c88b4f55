import type { RecordedRequest } from './recorded-request.ts';

export type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; name: string; input: Readonly<Record<string, unknown>> };

/** What the answer says that it has used. */
export interface TurnUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
}

export interface Failure {
  status: number;
  /** In seconds, as the header has it. */
  retryAfter?: number;
  /** @defaultValue what the Messages API calls this status */
  type?: string;
  message?: string;
}

/** How an answer ends before it is complete. */
export type Break = 'cut' | 'hang';

interface TurnFields {
  blocks: readonly Block[];
  usage: TurnUsage;
  model: string | null;
  failure: Failure | null;
  breaks: Break | null;
  /** How many requests it answers. */
  uses: number;
  fits: (request: RecordedRequest) => boolean;
  heldBy: Promise<unknown> | null;
}

const PLAIN: TurnFields = {
  blocks: [],
  usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheCreationTokens: 0 },
  model: null,
  failure: null,
  breaks: null,
  uses: 1,
  fits: () => true,
  heldBy: null,
};

/** One answer of the model. Every method answers a new turn, so a turn may be used in several scripts. */
export class Turn {
  readonly fields: Readonly<TurnFields>;

  constructor(fields: Readonly<TurnFields> = PLAIN) {
    this.fields = fields;
  }

  /** Adds a text block. */
  says(text: string): Turn {
    return this.#with({ blocks: [...this.fields.blocks, { type: 'text', text }] });
  }

  /** Adds a tool call. One turn may make several. */
  calls(name: string, input: Readonly<Record<string, unknown>> = {}): Turn {
    return this.#with({ blocks: [...this.fields.blocks, { type: 'tool_use', name, input }] });
  }

  /** Adds the structured answer, which is a call of the tool StructuredOutput. */
  answers(output: Readonly<Record<string, unknown>>): Turn {
    return this.calls('StructuredOutput', output);
  }

  using(usage: Partial<TurnUsage>): Turn {
    return this.#with({ usage: { ...this.fields.usage, ...usage } });
  }

  /** The model that the answer names. @defaultValue the one that was asked for */
  from(model: string): Turn {
    return this.#with({ model });
  }

  /** Closes the connection in the middle of the answer. */
  cut(): Turn {
    return this.#with({ breaks: 'cut' });
  }

  /** Stops in the middle of the answer and keeps the connection open. */
  hang(): Turn {
    return this.#with({ breaks: 'hang' });
  }

  /** Uses this turn only for requests that fit, such as `(request) => request.hasToolResult('Bash')`. */
  when(fits: (request: RecordedRequest) => boolean): Turn {
    return this.#with({ fits });
  }

  times(uses: number): Turn {
    return this.#with({ uses });
  }

  /** Answers any number of requests. */
  always(): Turn {
    return this.times(Number.POSITIVE_INFINITY);
  }

  /** Answers only when the promise has resolved, so that a test can act while the model is asked. */
  after(held: Promise<unknown>): Turn {
    return this.#with({ heldBy: held });
  }

  #with(fields: Partial<TurnFields>): Turn {
    return new Turn({ ...this.fields, ...fields });
  }
}

export const says = (text: string): Turn => new Turn().says(text);
export const calls = (name: string, input?: Readonly<Record<string, unknown>>): Turn => new Turn().calls(name, input);
export const answers = (output: Readonly<Record<string, unknown>>): Turn => new Turn().answers(output);
/** Accepts the request and never sends response headers. */
export const hangs = (): Turn => new Turn().hang();

/** Refuses the request. The CLI retries 401, 429, 500 and 529 by itself, see docs/agents.md. */
export function fails(status: number, failure: Omit<Failure, 'status'> = {}): Turn {
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new RangeError(`fails() takes an HTTP status from 400 to 599, not ${status}.`);
  return new Turn({ ...PLAIN, failure: { status, ...failure } });
}
