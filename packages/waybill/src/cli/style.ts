import { styleText } from 'node:util';
import type { Io } from './io.ts';

type Format = Parameters<typeof styleText>[0];

/** The colours of states, the same ones everywhere. */
const STATES: Readonly<Record<string, Format>> = {
  completed: 'green',
  active: 'cyan',
  running: 'cyan',
  retryable: 'yellow',
  paused: 'yellow',
  discarded: 'red',
  failed: 'red',
  cancelled: 'gray',
  pending: 'gray',
  skipped: 'gray',
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
};

export interface Style {
  /** Colours a text by the state that it begins with, padding included. */
  state(text: string): string;
  /** In the colour of this state. */
  as(state: string, text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

/** Colour only for people: at a terminal, and not where NO_COLOR asks for none. FORCE_COLOR beats both. */
export function styleFor({ isTty, env }: Pick<Io, 'isTty' | 'env'>): Style {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM } = env;
  const isColoured = force === '' ? isTty && no === '' && TERM !== 'dumb' : force !== '0' && force !== 'false';
  const paint = (format: Format, text: string): string =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  return {
    state: (text) => {
      const format = STATES[text.trim().split(' ', 1)[0] ?? ''];
      return format === undefined ? text : paint(format, text);
    },
    as: (state, text) => paint(STATES[state] ?? 'reset', text),
    dim: (text) => paint('dim', text),
    bold: (text) => paint('bold', text),
  };
}
