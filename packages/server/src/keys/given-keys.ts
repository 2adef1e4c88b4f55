import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type Clock, type KeyHolder, type Logger, stderrLogger, systemClock, WaybillError } from '@waybill/core';
import type { WhyRefused } from '../auth/why-refused.ts';
import { type GivenKey, holderAmong, MOST_BYTES, readKeyList, whyNotAmong } from './key-list.ts';

/** Where keys come from that no store keeps: a file, or the text of the variable `WAYBILL_KEYS`. */
export type KeySource = { file: string } | { text: string };

export interface GivenKeys {
  /** Who shows this secret; null: nobody who may call. */
  identify(secret: string): Promise<KeyHolder | null>;
  /** Why a secret that nobody holds is none, for the log of the server. */
  whyNot(secret: string): Promise<WhyRefused | undefined>;
}

interface GivenKeysOptions {
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** @defaultValue systemClock */
  clock?: Clock;
}

/** How long a change of the file may go unnoticed. */
const LOOK_EVERY_MS = 1_000;
/** A disk that takes longer holds up nobody. */
const LONGEST_LOOK_MS = 1_000;

/**
 * Keys for servers that keep none. They are read and checked at once: a list that cannot be used is refused here. A file is
 * read again when it has changed; while its new version cannot be used, the one before counts.
 */
export function givenKeys(
  source: KeySource,
  { logger = stderrLogger, clock = systemClock }: GivenKeysOptions = {},
): GivenKeys {
  if ('file' in source) {
    const file = new KeyFile(source.file, logger, clock);
    return { identify: (secret) => file.identify(secret), whyNot: async (secret) => file.whyNot(secret) };
  }
  const keys = readKeyList(source.text, 'WAYBILL_KEYS');
  return {
    identify: async (secret) => holderAmong(keys, secret, clock.now()),
    whyNot: async (secret) => whyNotAmong(keys, secret),
  };
}

class KeyFile {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** A pipe can be read once. */
  readonly #isFile: boolean;
  #keys: GivenKey[];
  #version: string;
  #lookedAt: number;
  #look: Promise<void> | undefined;
  /** So that the same trouble is told once, and not every second. */
  #told: string | undefined;

  constructor(path: string, logger: Logger, clock: Clock) {
    this.#path = path;
    this.#logger = logger;
    this.#clock = clock;
    this.#lookedAt = clock.now();
    try {
      // Before the content: what changes in between is read again.
      const facts = statSync(path, { bigint: true });
      this.#isFile = facts.isFile();
      this.#version = versionOf(facts);
      this.#keys = readKeyList(readFileSync(path, 'utf8'), this.#path);
      this.#warnOfReaders(facts);
    } catch (error) {
      throw unreadable(this.#path, error);
    }
  }

  async identify(secret: string): Promise<KeyHolder | null> {
    const now = this.#clock.now();
    if (this.#isFile && this.#look === undefined && Math.abs(now - this.#lookedAt) >= LOOK_EVERY_MS) {
      this.#lookedAt = now;
      this.#look = this.#readAgain().finally(() => {
        this.#look = undefined;
      });
      await within(this.#look, LONGEST_LOOK_MS);
    }
    return holderAmong(this.#keys, secret, this.#clock.now());
  }

  whyNot(secret: string): WhyRefused | undefined {
    return whyNotAmong(this.#keys, secret);
  }

  async #readAgain(): Promise<void> {
    try {
      const facts = await stat(this.#path, { bigint: true });
      const version = versionOf(facts);
      if (version === this.#version && this.#told === undefined) return;
      // Nobody may ever write into a pipe, and reading it would keep a thread of this process busy until then.
      if (!facts.isFile()) throw new WaybillError('invalid_request', `${this.#path} is no file any more.`);
      if (facts.size > MOST_BYTES)
        throw new WaybillError('invalid_request', `${this.#path} must have at most ${MOST_BYTES} bytes.`);
      const keys = readKeyList(await readFile(this.#path, 'utf8'), this.#path);
      this.#told = undefined;
      this.#version = version;
      this.#keys = keys;
      this.#logger.info({ file: this.#path, keys: keys.length }, 'The file of keys was read again.');
      this.#warnOfReaders(facts);
    } catch (error) {
      const { message } = unreadable(this.#path, error);
      if (message === this.#told) return;
      this.#told = message;
      const facts = { file: this.#path, reason: message };
      this.#logger.warn(
        facts,
        'The file of keys cannot be used as it is now. The keys that were read before still count.',
      );
    }
  }

  #warnOfReaders({ mode }: BigIntStats): void {
    const isShared = process.platform !== 'win32' && (mode & 0o077n) !== 0n;
    if (!isShared || !this.#keys.some(({ isPlain }) => isPlain)) return;
    const hint = 'Give sha256 instead of secret, or take the rights of others away: chmod 600.';
    this.#logger.warn({ file: this.#path, hint }, 'The file of keys holds secrets, and other users may read it.');
  }
}

/** Replacing a file, as editors and mounted secrets do, gives it another inode. */
const versionOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string => [ino, size, mtimeNs, ctimeNs].join(':');

function unreadable(path: string, error: unknown): WaybillError {
  if (error instanceof WaybillError) return error;
  const { code } = error as NodeJS.ErrnoException;
  return new WaybillError('invalid_request', `Cannot read ${path}: ${code ?? 'unknown error'}.`, {
    hint: 'Check its path, and that this process may read it.',
  });
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
