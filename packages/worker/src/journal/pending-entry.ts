import {
  checkNames,
  DROPPED_TYPE,
  didYouMean,
  ENTRY_OVERHEAD,
  entryBytes,
  isEntryType,
  isReservedType,
  type Json,
  LOG_LEVELS,
  LONGEST_TYPE,
  type LogLevel,
  type NewEntry,
  OUTPUT_TYPE,
  STREAMS,
  type Stream,
  WaybillError,
} from '@waybill/core';
import { toJson } from '../jsonified.ts';
import { isCritical } from './criticality.ts';

/** An entry that has no sequence yet. */
export interface PendingEntry {
  entry: Omit<NewEntry, 'sequence'>;
  /** What it weighs, in memory and on the wire. */
  bytes: number;
  /** For a critical one: called when it is safe, or cannot be. */
  critical?: { resolve(): void; reject(error: unknown): void };
}

export interface EmitOptions {
  /**
   * Whether the run fails when the entry cannot be stored.
   * @defaultValue true for `process.started` and `process.ended`, else false
   */
  critical?: boolean;
}

export interface OutputOptions {
  /** @defaultValue 'stdout' */
  stream?: Stream;
}

export interface LogOptions {
  /** @defaultValue 'info' */
  level?: LogLevel;
}

/** More becomes several entries: as bytes they are the same, and no store refuses them. */
export const LARGEST_OUTPUT = 64 * 1_024;

/** A mistake in the task, so it is thrown where it was made. */
const mistake = (message: string): WaybillError => new WaybillError('invalid_request', message);

export function emitted(
  type: string,
  data: unknown,
  options: EmitOptions,
  at: number,
): PendingEntry & { isCritical: boolean } {
  checkNames('context.emit()', options, ['critical']);
  if (!isEntryType(type))
    throw mistake(
      `Invalid entry name '${String(type).slice(0, 100)}'. Use letters, digits and _ . : / -, at most ${LONGEST_TYPE}.`,
    );
  if (type === OUTPUT_TYPE) throw mistake("An entry named 'output' has bytes. Use context.output(text) for it.");
  if (isReservedType(type)) throw mistake(`The name '${type}' is Waybill's own. Choose one outside of 'journal.'.`);
  const answer = toJson(data);
  if (!answer.ok) throw mistake(`The data of context.emit('${type}') is not JSON: ${answer.problem}.`);
  const pending = data === undefined ? plain(type, undefined, 0, at) : plain(type, answer.value, answer.bytes, at);
  return { ...pending, isCritical: isCritical(type, options.critical) };
}

export function levelOf(options: LogOptions): LogLevel {
  checkNames('context.log()', options, ['level']);
  const { level = 'info' } = options;
  if (LOG_LEVELS.includes(level)) return level;
  const meant = didYouMean(String(level), LOG_LEVELS);
  throw mistake(
    `The level of context.log() must be debug, info, warn or error, not '${String(level).slice(0, 100)}'.${meant}`,
  );
}

/** Never fails: the same fields were good enough for the logger. An entry without a level is one of 'info'. */
export function logged(level: LogLevel, message: string, fields: object, at: number): PendingEntry {
  const text = String(message);
  const answer = toJson(fields);
  const data = {
    message: text,
    ...(level !== 'info' && { level }),
    ...(answer.ok ? { fields: answer.value } : { problem: answer.problem }),
  };
  return plain('log', data, Buffer.byteLength(text) + (answer.ok ? answer.bytes : 0), at);
}

export function printed(given: string | Uint8Array, options: OutputOptions, at: number): PendingEntry[] {
  checkNames('context.output()', options, ['stream']);
  const { stream = 'stdout' } = options;
  if (!STREAMS.includes(stream))
    throw mistake(`The stream of context.output() must be stdout or stderr, not '${stream}'.`);
  if (typeof given !== 'string' && !(given instanceof Uint8Array))
    throw mistake(`context.output() takes text or bytes, not ${given === null ? 'null' : typeof given}.`);
  // A copy: what the handler writes into its buffer afterwards does not belong to this entry.
  const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : Uint8Array.from(given);
  const parts: PendingEntry[] = [];
  for (let from = 0; from < bytes.length; from += LARGEST_OUTPUT) {
    const output = bytes.subarray(from, from + LARGEST_OUTPUT);
    parts.push({ entry: { at, type: OUTPUT_TYPE, stream, output }, bytes: entryBytes({ output }) });
  }
  return parts;
}

export const missing = (count: number, bytes: number, reason: string, at: number): PendingEntry =>
  plain(DROPPED_TYPE, { entries: count, bytes, reason }, 100, at);

const plain = (type: string, data: Json | undefined, bytes: number, at: number): PendingEntry => ({
  entry: { at, type, ...(data !== undefined && { data }) },
  bytes: ENTRY_OVERHEAD + bytes,
});
