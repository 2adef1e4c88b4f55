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
      return `${of['isResumed'] === true ? 'goes on with' : 'begins'} session ${of['sessionId']}, attempt ${of['attempt']}`;
    case 'agent.text':
      return `says: ${short(of['text'])}`;
    case 'agent.tool.started':
      return `calls ${of['name']} ${short(of['input'])}`;
    case 'agent.tool.ended':
      return `${of['name']} ${of['outcome']} after ${of['durationMs']} ms: ${short(of['output'])}`;
    case 'agent.retry':
      return `failed with ${of['code']}, next attempt in ${of['delayMs']} ms: ${short(of['message'])}`;
    case 'agent.api_retry':
      return `was refused by the API with status ${of['status']}, asks again in ${of['delayMs']} ms`;
    case 'agent.usage':
      return `has used ${tokensOf(of['usage'])} tokens, ${of['costUsd']} USD, ${of['turns']} turns`;
    default:
      return null;
  }
}

function tokensOf(usage: Json | undefined): number {
  const {
    inputTokens = 0,
    outputTokens = 0,
    cacheReadTokens = 0,
    cacheCreationTokens = 0,
  } = (usage ?? {}) as Record<string, number>;
  return inputTokens + outputTokens + cacheReadTokens + cacheCreationTokens;
}

function short(value: Json | undefined): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value ?? null)).replace(/\s+/g, ' ').trim();
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
