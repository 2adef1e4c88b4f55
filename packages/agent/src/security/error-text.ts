import { existsSync } from 'node:fs';
import { withoutSecrets } from '@waybill/core';

const MASK = '***';

/** What `withoutSecrets` of the engine does not look for, because it is common in the output of tools and of models. */
const RULES: readonly (readonly [pattern: RegExp, shown: string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, MASK],
  // Keys that their makers gave a prefix: Anthropic, OpenAI, GitHub, GitLab, Slack, Google, npm, Hugging Face, Stripe.
  [/\bsk-[A-Za-z0-9_-]{16,}/g, MASK],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,})/g, MASK],
  [/\b(?:xox[abeoprs]-[\w-]{10,}|AIza[\w-]{30,}|hf_[A-Za-z0-9]{20,}|SG\.[\w-]{16,}\.[\w-]{16,})/g, MASK],
  [/\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}/g, MASK],
  [/\b(Bearer|Basic|Token)(\s+)[\w.~+/=-]{16,}/gi, `$1$2${MASK}`],
  // Settings, in capitals as in .env files, or after a word such as "password is".
  [
    /\b([A-Z][A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|DSN))(\s{0,3}[=:]\s{0,3}["']?)[^\s"']+/g,
    `$1$2${MASK}`,
  ],
  [
    /\b((?:account|shared|access|api|private|secret)[ _-]?key|pass(?:word|phrase|wd|code)|pwd)(["']?\s{0,3}(?:=>?|:|\bis\b)\s{0,3}["']?)[^\s"';,&]+/gi,
    `$1$2${MASK}`,
  ],
  // Long runs of base64 or of its variant for addresses. Words and paths have no such length; digests are shorter.
  [
    /(?<![\w+/=-])(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[a-z])(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z0-9+_-]{30})(?:[A-Za-z0-9+_-]\/?){80,}={0,2}/g,
    MASK,
  ],
];

export interface ErrorTextOptions {
  /** Values that are masked wherever they stand, such as those of `knownSecrets(process.env)`. */
  secrets?: readonly string[];
  /** @defaultValue 10_000 */
  maxLength?: number;
}

const MAX_LENGTH = 10_000;

/**
 * A text for errors, logs, traces and events without what looks like a secret: keys, bearer tokens, passwords, connection
 * strings, long base64, and the values that are known to be secret. Tools and models may print anything.
 */
export function sanitizeErrorMessage(text: string, options: ErrorTextOptions = {}): string {
  const { secrets = [], maxLength = MAX_LENGTH } = options;
  // Masked before it is cut, so that a cut cannot leave half a secret behind; twice the length bounds the work of the patterns.
  let shown = maskKnown(text, secrets).slice(0, maxLength * 2);
  shown = RULES.reduce((masked, [pattern, by]) => masked.replace(pattern, by), withoutSecrets(shown));
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1)}…`;
}

/** The longest first, where one has another one in it. */
export const maskKnown = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);

const SECRET_NAME =
  /(?:^|_)(?:\w*key|\w*token|\w*secrets?|\w*passw(?:or)?d|pass|pwd|\w*passphrase|credentials?|dsn|auth|cookie|pat)(?:_|$)/i;
/** In the address of a server: `postgres://app:secret@host`. */
const USER_INFO = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#]*?:([^\s/?#]+)@/i;
/** Shorter values are words that stand everywhere. */
const SHORTEST = 8;

/** The values of an environment that nobody may read outside of it, longest first: by their names, or by how they look. */
export function knownSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const found = new Set<string>();
  for (const [name, value = ''] of Object.entries(env)) {
    if (SECRET_NAME.test(name) && !isFile(value)) found.add(value);
    const [, password] = USER_INFO.exec(value) ?? [];
    if (password === undefined) continue;
    found.add(password);
    found.add(decoded(password));
    found.add(value);
  }
  const secrets = [...found].filter((value) => value.length >= SHORTEST);
  // As JSON writes them, which is how the output of tools comes.
  const forms = secrets.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** `SSH_AUTH_SOCK` and the like name a file, which is no secret, and whose folder stands in many texts. A key may begin with `/`. */
const isFile = (value: string): boolean => /^[/.~][\w./~-]*$/.test(value) && value.includes('/') && existsSync(value);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
