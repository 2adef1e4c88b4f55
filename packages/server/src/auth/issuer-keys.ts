import { readFile } from 'node:fs/promises';
import { type Clock, WaybillError } from '@waybill/core';
import type { JSONWebKeySet } from 'jose';
import { type CheckedJwt, isAddress } from './jwt-options.ts';

/** No issuer has so many keys. */
const MOST_BYTES = 1024 * 1024;

/**
 * The public keys of an issuer. They are fetched when they are first needed, when they are old, and when a token names a
 * key that is not among them; in each case not more often than the cooldown allows. Old keys are renewed while requests go
 * on with them, and stay in use while the issuer does not answer.
 */
export class IssuerKeys<T> {
  readonly #options: CheckedJwt;
  readonly #clock: Clock;
  readonly #understand: (keys: JSONWebKeySet) => T;
  #known: { keys: T; at: number } | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;
  #failure: unknown;

  /** `understand` makes of them what the caller needs. It runs once for each fetch. */
  constructor(options: CheckedJwt, clock: Clock, understand: (keys: JSONWebKeySet) => T) {
    this.#options = options;
    this.#clock = clock;
    this.#understand = understand;
  }

  async current(): Promise<T> {
    const known = this.#known;
    const age = known === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonic() - known.at;
    if (known && age < this.#options.maxAgeMs) return known.keys;
    const renewal = this.#loadAgain();
    // A server without requests for long may know keys that were withdrawn since. An issuer that fails is not waited for.
    if (known && (age < 2 * this.#options.maxAgeMs || this.#failure !== undefined)) return known.keys;
    await renewal;
    if (this.#known) return this.#known.keys;
    throw new WaybillError('unavailable', 'The keys of the issuer of tokens cannot be had at this moment.', {
      cause: this.#failure,
    });
  }

  /** Whether others are there now, after a token named a key that is not among these. */
  async areNewerThan(used: T | undefined): Promise<boolean> {
    if (this.#known?.keys === used) await this.#loadAgain();
    return this.#known?.keys !== used;
  }

  /** All that need keys wait for the same fetch. */
  async #loadAgain(): Promise<void> {
    if (!this.#loading) {
      if (this.#clock.monotonic() - this.#triedAt < this.#options.cooldownMs) return;
      this.#loading = this.#load().finally(() => {
        this.#loading = undefined;
      });
    }
    await this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const { jwks } = this.#options;
      const text = isAddress(jwks) ? await this.#fetched(jwks) : await readFile(jwks, 'utf8');
      this.#known = { keys: this.#understand(keysIn(text)), at: this.#clock.monotonic() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
    // From the end on: a slow issuer is not asked without a pause.
    this.#triedAt = this.#clock.monotonic();
  }

  async #fetched(url: string): Promise<string> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs);
    // A redirect could lead to keys of others.
    const response = await fetch(url, { signal, redirect: 'error', headers: { Accept: 'application/json' } });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`The issuer answered ${response.status}.`);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > MOST_BYTES) throw new Error(`The keys of the issuer have more than ${MOST_BYTES} bytes.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }
}

/** The parser's own message quotes the text, and a file of another kind may stand where the keys are expected. */
function keysIn(text: string): JSONWebKeySet {
  try {
    return JSON.parse(text) as JSONWebKeySet;
  } catch {
    throw new Error('The keys of the issuer are not valid JSON.');
  }
}
