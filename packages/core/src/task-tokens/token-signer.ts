import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { WaybillError } from '../errors.ts';
import { KEYS_CACHED_MS, type TokenKey, type TokenKeySource } from './token-keys.ts';

/** What a token is about. `lease` is the token of the engine: run, claim and the receipt of a message. */
export interface TokenFacts {
  tenant: string;
  jobId: string;
  queue: string;
  lease: string;
}

/** What a caller says beside its token, and the tenant that it calls for. */
export interface Presented {
  tenant: string;
  jobId: string;
  /** Absent: any. */
  queue?: string | undefined;
}

/** A token with an unknown key makes a server look for new keys, at most this often. */
const LOOK_EVERY_MS = 1_000;

const VERSION = 'wt1';
/** Version, id of the key, facts, signature. A receipt of SQS has about a kilobyte. */
const FORM = /^wt1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{1,8000})\.([A-Za-z0-9_-]{43})$/;

/** Whether a text has the form of a signed token. Only its signature says whether it is one. */
export const hasSignedForm = (text: string): boolean => FORM.test(text);

/**
 * Makes and checks task tokens: stateless, so that every server which has the keys accepts the tokens of the others.
 * The signature covers the tenant, which the token does not name: a caller of another tenant cannot use it.
 */
export class TokenSigner {
  readonly #source: TokenKeySource;
  readonly #clock: Clock;
  #keys: readonly TokenKey[] | undefined;
  #readAt = 0;
  #reading: Promise<readonly TokenKey[]> | undefined;

  constructor(source: TokenKeySource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Rejects where no key can be had at this moment. */
  async ready(): Promise<void> {
    await this.#known(KEYS_CACHED_MS);
  }

  async seal({ tenant, jobId, queue, lease }: TokenFacts): Promise<string> {
    const keys = await this.#known(KEYS_CACHED_MS);
    const key = keys.find(({ signsFrom }) => signsFrom <= this.#clock.now()) ?? keys.at(-1);
    const facts = Buffer.from(JSON.stringify([jobId, queue, lease])).toString('base64url');
    return `${VERSION}.${key!.id}.${facts}.${signature(key!, tenant, facts)}`;
  }

  /** Refused with `invalid_request` when it was not made for this tenant, job and queue with one of the keys. */
  async open(token: string, { tenant, jobId, queue: asked }: Presented): Promise<TokenFacts> {
    const match = typeof token === 'string' ? FORM.exec(token) : null;
    if (!match) throw invalidToken('it is malformed');
    const [, keyId, facts, signed] = match;
    const key = await this.#keyOf(keyId!);
    if (!key) throw invalidToken('it was signed with a key that does not count here');
    if (!isSame(signed!, signature(key, tenant, facts!))) throw invalidToken('it was altered, or is of another tenant');
    const [named, queue, lease] = JSON.parse(Buffer.from(facts!, 'base64url').toString()) as [string, string, string];
    if (named !== jobId) throw invalidToken('it is of another job');
    if (asked !== undefined && asked !== queue) throw invalidToken('it is of another queue');
    return { tenant, jobId, queue, lease };
  }

  async #keyOf(id: string): Promise<TokenKey | undefined> {
    const find = (keys: readonly TokenKey[]) => keys.find((key) => key.id === id);
    return find(await this.#known(KEYS_CACHED_MS)) ?? find(await this.#known(LOOK_EVERY_MS));
  }

  async #known(maxAgeMs: number): Promise<readonly TokenKey[]> {
    const age = Math.abs(this.#clock.now() - this.#readAt);
    if (this.#keys && age < maxAgeMs) return this.#keys;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<readonly TokenKey[]> {
    this.#keys = await this.#source.read();
    this.#readAt = this.#clock.now();
    return this.#keys;
  }
}

/** What stands behind the last line end has none in it, so no two inputs are the same text. */
const signature = ({ id, secret }: TokenKey, tenant: string, facts: string): string =>
  createHmac('sha256', secret).update(`${VERSION}\n${id}\n${tenant}\n${facts}`).digest('base64url');

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const invalidToken = (why: string): WaybillError =>
  new WaybillError('invalid_request', `The lease token is not valid: ${why}.`, {
    details: { field: 'lease_token' },
    hint: 'Send the token exactly as the claim of this job answered it.',
  });
