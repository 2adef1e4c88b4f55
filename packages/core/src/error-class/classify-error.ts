import { classOfCodes, isWrapper } from './codes.ts';
import { type ClassifiedError, classified, isRetryable, type Verdict } from './error-class.ts';
import { verdictOfType } from './error-types.ts';
import { retryAfterOf } from './retry-after.ts';
import { messageOf, read, readItems } from './safe-read.ts';
import { classOfHttpError } from './status.ts';
import { classOfText } from './text.ts';

/** How far causes are followed, and how many errors are looked at in all. */
const MAX_DEPTH = 8;
const MAX_ERRORS = 64;

const UNKNOWN: Verdict = { class: 'unknown', by: 'none' };

/**
 * Says what kind of failure an error is, and whether another attempt can help. The first that knows decides: codes, the
 * HTTP status, the type, the causes, and the text last. Takes anything that can be thrown, and never throws.
 */
export function classifyError(error: unknown, now: number = Date.now()): ClassifiedError {
  try {
    const walk = new Walk();
    const verdict = walk.verdictOf(error, 0) ?? UNKNOWN;
    return classified(verdict, walk.firstDelay(now));
  } catch {
    // Every read is guarded; what is left is a stack without room for one more call.
    return classified(UNKNOWN, undefined);
  }
}

/** The errors of one classification, so that a cycle ends and a huge tree is cut. */
class Walk {
  readonly #seen = new Set<unknown>();

  /** Of an error with its causes. Texts decide last, that of the outermost error first. */
  verdictOf(error: unknown, depth: number): Verdict | undefined {
    const chain: unknown[] = [];
    return this.#verdictOfChain(error, depth, chain) ?? verdictOfTexts(chain);
  }

  firstDelay(now: number): number | undefined {
    for (const error of this.#seen) {
      const delay = retryAfterOf(error, now);
      if (delay !== undefined) return delay;
    }
    return undefined;
  }

  #verdictOfChain(error: unknown, depth: number, chain: unknown[]): Verdict | undefined {
    if (depth > MAX_DEPTH || this.#seen.size >= MAX_ERRORS || this.#seen.has(error)) return undefined;
    this.#seen.add(error);
    chain.push(error);
    const own = ownVerdict(error);
    if (own !== undefined && !own.isWeak) return own;
    const cause = read(error, 'cause');
    const found = cause === undefined ? undefined : this.#verdictOfChain(cause, depth + 1, chain);
    return found ?? this.#verdictOfSeveral(error, depth + 1) ?? own;
  }

  /** Several failed at once: another attempt helps when one of them can pass, and is hopeless only when none can. */
  #verdictOfSeveral(error: unknown, depth: number): Verdict | undefined {
    const verdicts = readItems(error, 'errors').map((one) => this.verdictOf(one, depth));
    const passing = verdicts.find((verdict) => verdict !== undefined && isRetryable(verdict.class));
    return passing ?? (verdicts.every((verdict) => verdict !== undefined) ? verdicts[0] : undefined);
  }
}

interface OwnVerdict extends Verdict {
  /** The causes of the error are asked first. */
  isWeak: boolean;
}

function ownVerdict(error: unknown): OwnVerdict | undefined {
  const byCode = classOfCodes(error);
  if (byCode !== undefined) return { class: byCode, by: 'code', isWeak: isWrapper(error) };
  const byStatus = classOfHttpError(error);
  if (byStatus !== undefined) return { class: byStatus, by: 'status', isWeak: false };
  return verdictOfType(error);
}

function verdictOfTexts(errors: readonly unknown[]): Verdict | undefined {
  for (const error of errors) {
    const found = classOfText(messageOf(error));
    if (found !== undefined) return { class: found, by: 'text' };
  }
  return undefined;
}
