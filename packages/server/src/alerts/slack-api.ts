import { type Clock, isObject, type JsonObject, SinkRefusal } from '@waybill/core';
import { type PostOptions, post } from '../webhooks/post.ts';
import { checkAnswer } from '../webhooks/webhook-sink.ts';
import type { SlackTarget } from './alert-options.ts';

export interface SlackParts extends PostOptions {
  clock: Clock;
  version: string;
}

/** What Slack calls an error; anything else is not repeated. */
const ERROR_NAME = /^[a-z_]{1,64}$/;

/** Errors that a change at Slack ends, with what to do. */
const HINTS: Readonly<Record<string, string>> = {
  channel_not_found: 'Name a channel that is there, by its id.',
  not_in_channel: 'Invite the bot to the channel.',
  is_archived: 'Name a channel that is not archived.',
  invalid_auth: 'Give the token of a bot that is installed.',
  token_revoked: 'Give a new token.',
  account_inactive: 'Give the token of an active bot.',
  missing_scope: 'Give the bot the scope chat:write.',
};

/**
 * Sends one message and answers its `ts`, where the target tells it. Throws a `SinkRefusal` that names neither the token nor
 * the address; with 429 and 503 it says when to come again.
 */
export async function sendToSlack(
  target: SlackTarget,
  message: JsonObject,
  parts: SlackParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isBot = 'token' in target;
  const url = isBot ? `${target.api}chat.postMessage` : target.webhookUrl;
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': `waybill/${parts.version}`,
    ...(isBot && { Authorization: `Bearer ${target.token}` }),
  };
  const body = JSON.stringify(isBot ? { channel: target.channel, ...message } : message);
  const posted = await post(url, { headers, body }, parts, signal);
  // An incoming webhook says what is wrong with its status, and names it in the text.
  if (!isBot && posted.status === 404) throw refused(posted.text.trim());
  checkAnswer({ ...posted, status: posted.status === GONE ? 400 : posted.status }, parts.clock);
  if (!isBot) return undefined;
  const answer = parsed(posted.text);
  if (answer?.['ok'] === true) return typeof answer['ts'] === 'string' ? answer['ts'] : undefined;
  const error = answer?.['error'];
  if (error === 'ratelimited') throw new SinkRefusal('Slack asks to slow down.', { retryAfterMs: SLOWER_MS });
  throw refused(typeof error === 'string' ? error : '');
}

/** A channel that is gone may come back: the sink goes on. */
const GONE = 410;
const SLOWER_MS = 30_000;

function refused(error: string): SinkRefusal {
  const name = ERROR_NAME.test(error) ? error : 'an answer that it did not understand';
  const hint = HINTS[error];
  return new SinkRefusal(`Slack refused the message with ${name}.${hint === undefined ? '' : ` ${hint}`}`);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
