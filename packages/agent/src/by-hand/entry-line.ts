import { isObject, type Json } from '@waybill/core';

const LONGEST = 120;

/**
 * A line for people about an entry of an agent's journal, such as `Bash {"command":"ls"}`; null for an entry that says
 * nothing of an agent.
 */
export function agentLine({ type, data }: { type: string; data?: unknown }): string | null {
  const of = isObject(data as Json) ? (data as Record<string, Json | undefined>) : {};
  switch (type) {
    case 'agent.session':
      return `${of['is_resumed'] === true ? 'goes on with' : 'begins'} session ${of['session_id']}, attempt ${of['attempt']}`;
    case 'agent.text':
      return `says: ${short(of['text'])}`;
    case 'agent.tool.started':
      return `calls ${of['name']} ${short(of['input'])}`;
    case 'agent.tool.ended':
      return `${of['name']} ${of['outcome']} after ${of['duration_ms']} ms: ${short(of['output'])}`;
    case 'agent.retry':
      return `failed with ${of['code']}, next attempt in ${of['delay_ms']} ms: ${short(of['message'])}`;
    case 'agent.api_retry':
      return `was refused by the API with status ${of['status']}, asks again in ${of['delay_ms']} ms`;
    case 'agent.usage':
      return `has used ${tokensOf(of['usage'])} tokens, ${of['cost_usd']} USD, ${of['turns']} turns`;
    default:
      return null;
  }
}

type TokenCounts = Partial<Record<`${'input' | 'output' | 'cache_read' | 'cache_creation'}_tokens`, number>>;

function tokensOf(usage: Json | undefined): number {
  const { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens } = (usage ?? {}) as TokenCounts;
  return (input_tokens ?? 0) + (output_tokens ?? 0) + (cache_read_tokens ?? 0) + (cache_creation_tokens ?? 0);
}

function short(value: Json | undefined): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value ?? null)).replace(/\s+/g, ' ').trim();
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
