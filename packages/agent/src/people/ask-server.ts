import type { McpServer } from '../sdk/sdk-types.ts';

const SERVER = 'waybill';
const TOOL = 'ask_human';
/** The tool as the agent knows it. */
export const ASK_TOOL = `mcp__${SERVER}__${TOOL}`;

const DESCRIPTION =
  'Ask a person a question that only a person can decide or answer. Ask one question at a time, and say in it what they must ' +
  'know. Give choices where there are few possible answers.';

const SCHEMA = {
  type: 'object',
  properties: {
    question: { type: 'string', minLength: 1, maxLength: 8_000 },
    choices: { type: 'array', minItems: 1, maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 200 } },
  },
  required: ['question'],
  additionalProperties: false,
};

export interface AskInput {
  question: string;
  choices?: string[];
}

/** Null where the model has not kept to the schema. */
export function askInput(given: unknown): AskInput | null {
  const { question, choices } = (given ?? {}) as { question?: unknown; choices?: unknown };
  if (typeof question !== 'string' || question.trim() === '' || question.length > 8_000) return null;
  if (choices === undefined) return { question };
  const isList = Array.isArray(choices) && choices.length >= 1 && choices.length <= 20;
  if (!isList || !choices.every(isChoice) || new Set(choices).size !== choices.length) return null;
  return { question, choices: choices as string[] };
}

const isChoice = (one: unknown): boolean => typeof one === 'string' && one.trim() !== '' && one.length <= 200;

interface Message {
  id?: number | string;
  method?: string;
  params?: { protocolVersion?: string; arguments?: unknown };
}

interface Transport {
  onmessage?: (message: Message) => void;
  start?(): Promise<void>;
  send(message: object): Promise<void>;
}

/**
 * A server of the Model Context Protocol in this process, with the one tool. Written out, because the SDK's own way to make one
 * needs a schema library that nothing else here does. The call only records: a hook ends the query, and a person answers.
 */
export function askServer(description = DESCRIPTION): Record<string, McpServer> {
  const answerTo = ({ method, params }: Message): object | null => {
    switch (method) {
      case 'initialize': {
        const { protocolVersion } = params ?? {};
        return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: SERVER, version: '1' } };
      }
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: [{ name: TOOL, description, inputSchema: SCHEMA }] };
      case 'tools/call':
        return askInput(params?.arguments) === null ? REFUSED : RECORDED;
      default:
        return null;
    }
  };
  const connect = async (transport: Transport): Promise<void> => {
    transport.onmessage = (message) => {
      if (message.id === undefined) return;
      const result = answerTo(message);
      const error = { code: -32_601, message: 'There is no such method.' };
      void transport.send({ jsonrpc: '2.0', id: message.id, ...(result === null ? { error } : { result }) });
    };
    await transport.start?.();
  };
  return { [SERVER]: { type: 'sdk', name: SERVER, instance: { connect, close: async () => {} } } };
}

const content = (text: string) => [{ type: 'text', text }];
const RECORDED = { content: content('The question is recorded. A person will answer it.') };
const REFUSED = {
  content: content('Give a question of at most 8,000 characters, and at most 20 different choices.'),
  isError: true,
};
