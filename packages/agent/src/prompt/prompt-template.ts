import { WaybillError } from '@waybill/core';
import { type PromptInputOptions, promptValue } from '../security/prompt-input.ts';

/** `{{name}}`, `{{user.tags.0}}`; with a question mark, `{{note?}}`, a value that is not there is empty. */
const PLACEHOLDER = /\{\{(.*?)\}\}/gs;
const PATH = /^([\w$-]+(?:\.[\w$-]+)*)(\?)?$/;

interface Slot {
  /** As it was written, for messages. */
  path: string;
  steps: readonly string[];
  isOptional: boolean;
}

/** A prompt with placeholders. Every value is sanitized, so an input cannot bring markup or placeholders of its own. */
export class PromptTemplate {
  readonly #texts: string[] = [];
  readonly #slots: Slot[] = [];
  readonly #owner: string;

  /** `owner` says in errors whose prompt this is. Refuses placeholders that no input could fill. */
  constructor(text: string, owner: string) {
    this.#owner = owner;
    let from = 0;
    for (const found of text.matchAll(PLACEHOLDER)) {
      const [, path, mark] = PATH.exec(found[1]!.trim()) ?? [];
      if (path === undefined) throw this.#mistake(found[0], 'Use names joined by dots, such as {{user.name}}.');
      this.#texts.push(text.slice(from, found.index));
      this.#slots.push({ path, steps: path.split('.'), isOptional: mark !== undefined });
      from = found.index + found[0].length;
    }
    const rest = text.slice(from);
    if (rest.includes('{{')) throw this.#mistake(rest.slice(rest.indexOf('{{')).slice(0, 40), 'It has no }}.');
    this.#texts.push(rest);
  }

  /** First names of all placeholders that must have a value. */
  get names(): string[] {
    return [...new Set(this.#slots.filter(({ isOptional }) => !isOptional).map(({ steps }) => steps[0]!))];
  }

  /** Fills in the values of `scopes`; the first scope that has the first name of a path gives its value. */
  render(scopes: readonly unknown[], options: PromptInputOptions = {}): string {
    return this.#texts.reduce((prompt, text, index) => {
      const slot = this.#slots[index - 1]!;
      const value = valueAt(scopes, slot.steps);
      if (value === undefined && !slot.isOptional) throw this.#unknown(slot, scopes);
      return `${prompt}${value === undefined ? '' : promptValue(value, options)}${text}`;
    });
  }

  #mistake(found: string, rule: string): WaybillError {
    return new WaybillError('invalid_request', `${this.#owner}: invalid placeholder '${found}' in 'prompt'. ${rule}`);
  }

  #unknown({ path }: Slot, scopes: readonly unknown[]): WaybillError {
    const known = [...new Set(scopes.flatMap((scope) => (isObject(scope) ? Object.keys(scope) : [])))];
    const message = `${this.#owner}: the input has no value for the placeholder '{{${path}}}' of 'prompt'.`;
    const hint = `Known names: ${known.join(', ') || 'none'}. Write {{${path}?}} where it may be left out.`;
    return new WaybillError('invalid_request', message, { hint, details: { field: path } });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function valueAt(scopes: readonly unknown[], steps: readonly string[]): unknown {
  const has = (value: unknown, step: string): value is Record<string, unknown> =>
    isObject(value) && Object.hasOwn(value, step);
  let value: unknown = scopes.find((scope) => has(scope, steps[0]!));
  for (const step of steps) {
    // What an object inherits is no input.
    if (!has(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
