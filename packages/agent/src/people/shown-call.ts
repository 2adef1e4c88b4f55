import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '@waybill/core';

/** Bytes of a call; a question takes 32,768 of details in all. */
export const LARGEST_CALL = 24_000;
/** Characters of the call in the text of the question. The details have all of it. */
const LONGEST_SUMMARY = 2_000;

/** What does not show, or lets a line read as another one. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\u0080-\u009f]/gu;

/** Tells a call from every other one, the order of its fields apart. */
export function digestOf(tool: string, input: unknown): string {
  const text = JSON.stringify([tool, input], (_, value) => sorted(value));
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const sorted = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Whether a person can be shown all of the call. */
export const canBeShown = (input: unknown): boolean => Buffer.byteLength(JSON.stringify(input)) <= LARGEST_CALL;

/** A call as a person is asked to approve it: whole, and with what does not show written as JSON writes control characters. */
export function shownCall(agent: string, tool: string, input: Json, digest: string) {
  const json = JSON.stringify(input).replace(INVISIBLE, escaped);
  const rest = json.length - LONGEST_SUMMARY;
  const shown = rest <= 0 ? json : `${json.slice(0, LONGEST_SUMMARY)}… and ${rest} more characters, see the details`;
  const details: JsonObject = { agent, tool, input, digest };
  return { text: `The agent '${agent}' wants to use ${tool}: ${shown}`, details };
}

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join('');

const hex = (code: number): string => code.toString(16).padStart(4, '0');
