import { LineBudget } from './line-budget.ts';
import type { Logger } from './logger.ts';
import { withoutSecrets } from './secret-text.ts';

/** What a job carries is its owner's secret, whoever logs it. */
const NEVER_SHOWN: ReadonlySet<string> = new Set(['args', 'input', 'payload', 'result', 'meta', 'checkpoint']);
const LONGEST_VALUE = 300;
const STACK_LINES = 12;

interface Parts {
  /** Takes one entry, without a line break at its end. */
  write(text: string): void;
  now(): number;
  /** @defaultValue 'warn' */
  least?: Level;
  /** What a line begins with. The level is padded. */
  head?(level: string, at: number): string;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

/** `console.error` is stderr in Node, and exists in browsers. Unlike the stream itself, it survives a closed pipe. */
// biome-ignore lint/suspicious/noConsole: it is what this logger is for.
const PARTS: Parts = { write: (text) => console.error(text), now: () => Date.now() };

/**
 * Writes warnings and errors, or more where asked for, for people, one line each, with the stack below an error that nothing else explains. A
 * source that repeats itself is cut short. More, and in another form, is for a logger such as pino.
 */
export function lineLogger({ write, now, least = 'warn', head = headOf }: Parts = PARTS): Logger {
  const entry = (level: string, text: string) => write(head(level, now()) + text);
  const budget = new LineBudget({
    now,
    onLeftOut: (count, like) => entry('WARN ', plain(`${count} more lines left out like: ${like}`)),
  });
  const at = (level: string) => (fields: object, message: string) => {
    const { task } = fields as { task?: unknown };
    // The messages of one task differ by job and reason; they are bounded together.
    if (!budget.take(typeof task === 'string' ? `task ${task}` : message, message)) return;
    entry(level, plain(message) + shown(fields, message) + reasonOf(fields, level, message));
  };
  const from = (level: Level) =>
    LEVELS.indexOf(level) < LEVELS.indexOf(least) ? () => {} : at(level.toUpperCase().padEnd(5));
  return { debug: from('debug'), info: from('info'), warn: from('warn'), error: from('error') };
}

const headOf = (level: string, at: number): string => `${new Date(at).toISOString()} ${level} waybill: `;

/** What everything logs to where no logger is given. */
export const stderrLogger: Logger = lineLogger();

/** Names and numbers that the message does not tell already. */
function shown(fields: object, message: string): string {
  const told = Object.entries(fields).filter(
    ([name, value]) =>
      !NEVER_SHOWN.has(name) &&
      ['string', 'number', 'boolean'].includes(typeof value) &&
      !(typeof value === 'string' && message.includes(value)),
  );
  return told.map(([name, value]) => ` ${name}=${plain(String(value))}`).join('');
}

/** `err` is what we met; `error` and `cause` may be an Error too, or a failure as it is stored. */
function reasonOf(fields: object, level: string, message: string): string {
  const { err, error, cause } = fields as Record<'err' | 'error' | 'cause', unknown>;
  const met = [err, error, cause].find((one) => one instanceof Error) as (Error & { code?: unknown }) | undefined;
  const stored = storedReason(error, message);
  if (met === undefined) return stored;
  const code = typeof met.code === 'string' || typeof met.code === 'number' ? ` (${met.code})` : '';
  const inner = met.cause instanceof Error ? `; caused by ${met.cause.name}: ${plain(met.cause.message)}` : '';
  return `${stored} ${met.name}: ${plain(met.message)}${plain(code)}${inner}${level === 'ERROR' ? framesOf(met) : ''}`;
}

/** A failure as it is stored with a job, unless the message tells it already. */
function storedReason(error: unknown, message: string): string {
  if (typeof error !== 'object' || error === null || error instanceof Error || !('message' in error)) return '';
  const { message: reason } = error;
  return typeof reason !== 'string' || message.includes(reason.slice(0, 200)) ? '' : ` reason=${plain(reason)}`;
}

/** Refusals explain themselves; whatever else was met needs its place. */
function framesOf({ name, stack = '' }: Error): string {
  if (name === 'WaybillError') return '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, STACK_LINES)
    .map((frame) => `\n    ${plain(frame.trim())}`)
    .join('');
}

/** One line, and nothing that a terminal would obey: parts of it come from producers of jobs. */
function plain(text: string): string {
  // Before the line breaks go: some secrets end with their line. Cut first, so that no text takes long.
  const line = withoutSecrets(text.slice(0, LONGEST_VALUE * 16)).replace(/\p{Cc}+/gu, ' ');
  return line.length <= LONGEST_VALUE * 4 ? line : `${line.slice(0, LONGEST_VALUE * 4)}…`;
}
