import type { Block, Turn, TurnUsage } from './turn.ts';

/** Characters of one delta, so that an answer can be cut in its middle. */
const DELTA = 40;

const event = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** The server-sent events of a turn, in the order of the Messages API. A turn that breaks off has only its beginning. */
export function eventsOf(turn: Turn, number: number, askedModel: string): string[] {
  const { blocks, usage, breaks } = turn.fields;
  const input = inputOf(usage);
  const start = { stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } };
  const events = [event('message_start', { message: { ...headOf(turn, number, askedModel), content: [], ...start } })];
  blocks.forEach((block, index) => void events.push(...blockEvents(block, index, number)));
  if (breaks !== null) return events.slice(0, 1 + Math.ceil((events.length - 1) / 2));
  const delta = { stop_reason: stopReason(blocks), stop_sequence: null };
  events.push(event('message_delta', { delta, usage: { ...input, output_tokens: usage.outputTokens } }));
  events.push(event('message_stop'));
  return events;
}

/** The body of an answer that is no stream. */
export function wholeOf(turn: Turn, number: number, askedModel: string): string {
  const { blocks, usage } = turn.fields;
  const content = blocks.map((block, index) =>
    block.type === 'text' ? block : { ...block, id: `toolu_fake_${number}_${index}` },
  );
  const end = { stop_reason: stopReason(blocks), stop_sequence: null };
  const used = { ...inputOf(usage), output_tokens: usage.outputTokens };
  return JSON.stringify({ ...headOf(turn, number, askedModel), content, ...end, usage: used });
}

const headOf = ({ fields }: Turn, number: number, askedModel: string): object => ({
  id: `msg_fake_${number}`,
  type: 'message',
  role: 'assistant',
  model: fields.model ?? askedModel,
});

const inputOf = ({ inputTokens, cacheReadTokens, cacheCreationTokens }: TurnUsage): object => ({
  input_tokens: inputTokens,
  cache_read_input_tokens: cacheReadTokens,
  cache_creation_input_tokens: cacheCreationTokens,
});

const stopReason = (blocks: readonly Block[]): string =>
  blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';

function blockEvents(block: Block, index: number, number: number): string[] {
  const isText = block.type === 'text';
  const content_block = isText
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: `toolu_fake_${number}_${index}`, name: block.name, input: {} };
  const content = isText ? block.text : JSON.stringify(block.input);
  const deltas = content.match(new RegExp(`[\\s\\S]{1,${DELTA}}`, 'gu')) ?? [];
  return [
    event('content_block_start', { index, content_block }),
    ...deltas.map((text) => {
      const delta = isText ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
      return event('content_block_delta', { index, delta });
    }),
    event('content_block_stop', { index }),
  ];
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** The body of a refusal. */
export function errorBody(status: number, message?: string, type?: string): string {
  const known = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return JSON.stringify({
    type: 'error',
    error: { type: type ?? known, message: message ?? `The scripted failure ${status}.` },
  });
}
