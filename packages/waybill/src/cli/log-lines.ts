import {
  CUT_TYPE,
  DROPPED_TYPE,
  isObject,
  type JournalEntry,
  type Json,
  type LoggedEvent,
  UNREADABLE_TYPE,
} from '@waybill/core';
import { atOf, type LogItem, runOf } from './log-items.ts';
import type { Screen } from './table.ts';
import { oneLine, wrapped } from './text-width.ts';

/** The left column: when it was said, counted from the start of its run. */
const LEFT = 10;
/** A line that is longer than this is shown in parts. */
const LONGEST_LINE = 8_192;

interface LinesParts extends Screen {
  /** When a run has begun; undefined: not known. */
  startOf(run: number): Promise<number | undefined>;
}

/** What is said as lines for people: with its time at the left, stderr marked, and a heading for each run. */
export class LogLines {
  readonly #parts: LinesParts;
  /** The rest of an output that has not come to the end of its line. */
  #open: { entry: JournalEntry; text: string } | undefined;
  readonly #decoders = new Map<string, InstanceType<typeof TextDecoder>>();
  readonly #starts = new Map<number, number>();
  #run = 0;

  constructor(parts: LinesParts) {
    this.#parts = parts;
  }

  async of(item: LogItem): Promise<string> {
    const heading = await this.#heading(item);
    if (item.kind === 'event') return this.rest() + heading + this.#line(item, lifecycleText(item.event, this.#parts));
    const { entry } = item;
    if (entry.output) return heading + this.#output(entry, entry.output);
    return this.rest() + heading + this.#line(item, entryText(entry, this.#parts));
  }

  get hasRest(): boolean {
    return this.#open !== undefined;
  }

  /** An output that has no end of line. */
  rest(): string {
    const open = this.#open;
    this.#open = undefined;
    return open && open.text !== '' ? this.#outputLine(open.entry, open.text) : '';
  }

  async #heading(item: LogItem): Promise<string> {
    const run = runOf(item);
    if (run === 0 || run === this.#run) return '';
    const before = this.rest();
    const start = (await this.#parts.startOf(run)) ?? atOf(item);
    this.#starts.set(run, start);
    this.#decoders.clear();
    const gap = this.#run === 0 ? '' : '\n';
    this.#run = run;
    const { style } = this.#parts;
    return `${before}${gap}${style.bold(`Run ${run}`)} ${style.dim(`since ${new Date(start).toISOString()}`)}\n`;
  }

  #output(entry: JournalEntry, bytes: Uint8Array): string {
    const { stream = 'stdout' } = entry;
    const before = this.#open && (this.#open.entry.stream ?? 'stdout') !== stream ? this.rest() : '';
    const decoder = this.#decoders.get(stream) ?? new TextDecoder();
    this.#decoders.set(stream, decoder);
    const begun = this.#open ?? { entry, text: '' };
    const lines = (begun.text + decoder.decode(bytes, { stream: true })).split('\n');
    const last = lines.pop()!;
    const whole = lines.map((line, index) => this.#outputLine(index === 0 ? begun.entry : entry, line)).join('');
    this.#open = last === '' ? undefined : { entry: lines.length > 0 ? entry : begun.entry, text: last };
    return before + whole + (last.length > LONGEST_LINE ? this.rest() : '');
  }

  #outputLine(entry: JournalEntry, text: string): string {
    const { style } = this.#parts;
    const shown = harmless(text, style.bold('x') !== 'x');
    if (entry.stream !== 'stderr') return this.#line({ kind: 'entry', entry }, `  ${shown}`);
    return this.#line({ kind: 'entry', entry }, style.as('fail', `! ${shown}`));
  }

  #line(item: LogItem, text: string): string {
    const { style, width } = this.#parts;
    const start = this.#starts.get(runOf(item));
    const left = style.dim((start === undefined ? '' : offset(atOf(item) - start)).padStart(LEFT));
    return `${left} ${wrapped(text, width - LEFT - 3).join(`\n${' '.repeat(LEFT + 3)}`)}\n`;
  }
}

/** +12.3s, +2m03.4s, +1h02m03s. */
export function offset(ms: number): string {
  const tenths = Math.round(Math.abs(ms) / 100);
  const [hours, minutes, seconds] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60, (tenths % 600) / 10];
  const sign = ms < 0 ? '-' : '+';
  const two = (count: number) => String(count).padStart(2, '0');
  if (hours > 0) return `${sign}${hours}h${two(minutes)}m${two(Math.floor(seconds))}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds.toFixed(1).padStart(4, '0')}s` : `${sign}${seconds.toFixed(1)}s`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what takes over a terminal begins with one.
const ESCAPES = /(\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~]))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOUR = /^\u001b\[[0-9;]*m$/;

/** The line as it would look at last, without what would take over the terminal. Colours stay where there are any. */
export function harmless(line: string, hasColour: boolean): string {
  const shown = line.replace(/\r+$/, '').split('\r').at(-1)!.replaceAll('\t', '    ');
  // Every second part is what the others are split by.
  const parts = shown.split(ESCAPES).map((part, index) => {
    if (index % 2 === 0) return oneLine(part);
    return hasColour && COLOUR.test(part) ? part : '';
  });
  const isColoured = parts.some((part, index) => index % 2 === 1 && part !== '');
  return parts.join('').trimEnd() + (isColoured ? '\u001b[0m' : '');
}

const STATES: Readonly<Record<string, string>> = {
  'process.started': 'active',
  'process.ended': 'completed',
  'process.failed': 'failed',
  [CUT_TYPE]: 'warn',
  [DROPPED_TYPE]: 'warn',
  [UNREADABLE_TYPE]: 'fail',
};

/** In which colour a level is shown. */
const LEVELS: Readonly<Record<string, string>> = { debug: 'cancelled', info: 'reset', warn: 'warn', error: 'fail' };

function entryText({ type, data }: JournalEntry, { style }: Screen): string {
  if (type === 'log' && isObject(data) && typeof data['level'] === 'string' && Object.hasOwn(LEVELS, data['level'])) {
    const { level, ...rest } = data;
    return `• ${style.as(LEVELS[data['level']]!, `log ${level}`)}${style.dim(` ${oneLine(textOf(rest))}`)}`;
  }
  const told = data === undefined ? '' : ` ${oneLine(textOf(data))}`;
  return `• ${style.as(STATES[type] ?? 'reset', oneLine(type))}${style.dim(told)}`;
}

function lifecycleText({ type, data, attempt = 0 }: LoggedEvent, { style }: Screen): string {
  const told = Object.keys(data).length === 0 ? '' : ` ${oneLine(textOf(data))}`;
  return `▸ ${style.state(type.slice(type.indexOf('.') + 1))}${attempt > 0 ? ` #${attempt}` : ''}${style.dim(told)}`;
}

/** `pid=7 command="npm test"`; a message comes first, since it is meant to be read. */
function textOf(data: Json): string {
  if (typeof data === 'string') return data;
  if (!isObject(data)) return JSON.stringify(data);
  const { message, ...rest } = data;
  const head = typeof message === 'string' ? [message] : message === undefined ? [] : [JSON.stringify(message)];
  const pairs = Object.entries(rest).map(([name, value]) => `${name}=${wordOf(value!)}`);
  return [...head, ...pairs].join(' ');
}

const wordOf = (value: Json): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
