import type { Block, Turn } from './turn.ts';

/** Characters of one delta, so that an answer can be cut in its middle. */
const DELTA = 40;

const event = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** The server-sent events of a turn, in the order of the Messages API. A turn that breaks off has only its beginning. */
export function eventsOf(turn: Turn, number: number, askedModel: string): string[] {
  const { blocks, usage, model, breaks } = turn.fields;
  const input = {
    input_tokens: usage.inputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheCreationTokens,
  };
  const events = [
    event('message_start', {
      message: {
        ...{ id: `msg_fake_${number}`, type: 'message', role: 'assistant', model: model ?? askedModel, content: [] },
        ...{ stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } },
      },
    }),
  ];
  blocks.forEach((block, index) => void events.push(...blockEvents(block, index, number)));
  if (breaks !== null) return events.slice(0, 1 + Math.ceil((events.length - 1) / 2));
  const stop_reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const delta = { stop_reason, stop_sequence: null };
  events.push(event('message_delta', { delta, usage: { ...input, output_tokens: usage.outputTokens } }));
  events.push(event('message_stop'));
  return events;
}

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
