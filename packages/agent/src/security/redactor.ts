import type { Json } from '@waybill/core';
import { knownSecrets, maskKnown, sanitizeErrorMessage } from './error-text.ts';

/** Deeper values are written as text. */
const DEEPEST = 12;
const MOST_ITEMS = 200;

/** Makes texts and values of tools and models fit for journals, logs, traces and errors: without secrets, and bounded. */
export class Redactor {
  readonly #secrets: readonly string[];

  constructor(...environments: Readonly<Record<string, string | undefined>>[]) {
    this.#secrets = environments.flatMap(knownSecrets).sort((a, b) => b.length - a.length);
  }

  text(text: string, maxLength: number): string {
    return sanitizeErrorMessage(text, { secrets: this.#secrets, maxLength });
  }

  /** The value as JSON, every text in it redacted. One whose JSON is longer than allowed becomes a cut text. */
  value(value: unknown, maxLength: number): Json {
    const clean = this.#clean(value, maxLength, DEEPEST);
    const json = JSON.stringify(clean);
    return json.length <= maxLength ? clean : this.text(json, maxLength);
  }

  /** The value with only the known secrets masked, and nothing cut: for what an agent has answered. */
  withoutKnown<T>(value: T): T {
    const json = JSON.stringify(value);
    if (json === undefined || this.#secrets.length === 0) return value;
    return JSON.parse(json, (_, one) => (typeof one === 'string' ? this.#masked(one) : this.#withMaskedNames(one)));
  }

  /**
   * The same for an entry of a transcript. The model's thoughts stay as they are: they are signed, and a conversation with
   * changed ones is refused.
   */
  transcript<T extends object>(entry: T): T {
    const mask = (text: string): string => this.#masked(text);
    return JSON.parse(JSON.stringify(entry), function (this: { type?: unknown }, _, one) {
      return typeof one === 'string' && !SIGNED.includes(this.type) ? mask(one) : one;
    });
  }

  #withMaskedNames(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [this.#masked(name), one]));
  }

  #masked(text: string): string {
    return maskKnown(text, this.#secrets);
  }

  #clean(value: unknown, maxLength: number, depth: number): Json {
    if (typeof value === 'string') return this.text(value, maxLength);
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'boolean' || value === null) return value;
    if (typeof value !== 'object') return String(value);
    if (depth === 0) return '…';
    if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => this.#clean(item, maxLength, depth - 1));
    const entries = Object.entries(value).slice(0, MOST_ITEMS);
    return Object.fromEntries(
      entries.map(([name, one]) => [this.#masked(name), this.#named(name, one, maxLength, depth)]),
    );
  }

  /** A field called `password` is a secret whatever it holds, and its name and value are only seen together here. */
  #named(name: string, value: unknown, maxLength: number, depth: number): Json {
    const isHidden = typeof value === 'string' && SECRET_FIELD.test(name);
    return isHidden ? '***' : this.#clean(value, maxLength, depth - 1);
  }
}

const SIGNED: readonly unknown[] = ['thinking', 'redacted_thinking'];

const SECRET_FIELD = /^(?:.*[_-])?(?:password|passwd|passphrase|secret|api_?key|access_?token|token|authorization)$/i;
