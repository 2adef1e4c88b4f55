import type { Waybill } from '@waybill/core';
import { misuse } from './command.ts';
import type { Context } from './context.ts';
import { clipped, linesWithin } from './text-width.ts';

/** Ages of jobs go on also where nothing happens. */
const EACH_MS = 2_000;
/** Where much happens, a person cannot follow more than this. */
const LEAST_MS = 200;

/** A screen of its own, so that what was there before comes back. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const REST_OF_LINE = '\u001b[K';
const REST_OF_SCREEN = '\u001b[J';

export function checkWatch({ io, isJson }: Context): void {
  if (isJson) throw misuse('--watch draws a table: leave out --json, or follow events with waybill tail --json.');
  if (!io.isTty) throw misuse('--watch needs a terminal. In a script, follow events with waybill tail --json.');
}

/**
 * Looks again when the log goes on, and now and then, until there is nothing more to see (then it answers true) or Ctrl-C.
 */
export async function eachChange(look: () => Promise<boolean>, waybill: Waybill, { io }: Context): Promise<boolean> {
  const interrupted = io.interrupted();
  const left = new AbortController();
  const signal = AbortSignal.any([interrupted, left.signal]);
  let changed = new AbortController();
  let failure: { error: unknown } | undefined;
  const after = await waybill.events.end();
  const listening = (async () => {
    try {
      for await (const _ of waybill.events.follow({ after, signal })) changed.abort();
    } catch (error) {
      failure = { error };
      changed.abort();
    }
  })();
  try {
    while (!interrupted.aborted) {
      changed = new AbortController();
      if (await look()) return true;
      await io.sleep(EACH_MS, AbortSignal.any([interrupted, changed.signal]));
      if (failure) throw failure.error;
      if (changed.signal.aborted) await io.sleep(LEAST_MS, interrupted);
    }
    return false;
  } finally {
    left.abort();
    await listening;
  }
}

/** Draws again and again on a screen of its own, until Ctrl-C. */
export async function redrawnEvery(ms: number, draw: () => Promise<string>, context: Context): Promise<void> {
  const { io } = context;
  const interrupted = io.interrupted();
  io.stdout.write(ENTER);
  try {
    while (!interrupted.aborted) {
      io.stdout.write(screenOf(await draw(), context));
      await io.sleep(ms, interrupted);
    }
  } finally {
    io.stdout.write(LEAVE);
  }
}

/** Draws each change on a screen of its own, until Ctrl-C or until what is drawn is over. Answers as `eachChange` does. */
export async function redrawn(
  draw: () => Promise<string>,
  waybill: Waybill,
  context: Context,
  isOver: () => boolean = () => false,
): Promise<boolean> {
  const { io } = context;
  io.stdout.write(ENTER);
  try {
    const look = async () => {
      io.stdout.write(screenOf(await draw(), context));
      return isOver();
    };
    return await eachChange(look, waybill, context);
  } finally {
    io.stdout.write(LEAVE);
  }
}

/** Over what was drawn before: each line to its end, and nothing below the screen. */
function screenOf(text: string, { io, width, style }: Context): string {
  const rows = io.rows() || 24;
  const all = linesWithin(text.trimEnd(), width).split('\n');
  const foot = style.dim(clipped(`${new Date(io.now()).toISOString().slice(11, 19)}Z  Ctrl-C ends`, width));
  const shown = [...all.slice(0, Math.max(1, rows - 1)), foot];
  return HOME + shown.map((line) => line + REST_OF_LINE).join('\n') + REST_OF_SCREEN;
}
