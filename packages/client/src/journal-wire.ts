import type { JournalEntry, Json, NewEntry } from '@waybill/core';
import { toRfc3339 } from './time.ts';

/**
 * An entry of a journal as JSON. Output is text where its bytes are valid UTF-8, and base64 where they are not: never
 * both, and either way the same bytes come back.
 */
export interface WireEntry {
  run: number;
  sequence: number;
  time: string;
  type: string;
  stream?: 'stdout' | 'stderr';
  output?: string;
  output_base64?: string;
  data?: Json;
}

/** An entry that a worker sends: the server knows the run, and the time where it is left out. */
export type WireNewEntry = Omit<WireEntry, 'run' | 'time'> & { time?: string };

/** All names of an entry that is sent. */
export const NEW_ENTRY_NAMES: Readonly<Record<keyof WireNewEntry, true>> = {
  ...{ sequence: true, time: true, type: true, stream: true, output: true, output_base64: true, data: true },
};

export interface WireJournalPage {
  entries: WireEntry[];
  cursor: string;
  at_end: boolean;
  missed: boolean;
}

export interface WireAppended {
  run: number;
  stored: number;
  head: number | null;
  cut: number;
}

/** Names of the messages of a followed journal; what an entry is called by its writer is in its data. */
export const JOURNAL_MESSAGES = {
  entry: 'entry',
  lifecycle: 'lifecycle',
  missed: 'missed',
  live: 'live',
  end: 'end',
} as const;

export const entryToWire = ({ run, at, ...entry }: JournalEntry): WireEntry => ({
  ...{ run, sequence: entry.sequence, time: toRfc3339(at) },
  ...contentToWire(entry),
});

export const entryFromWire = ({ run, time, ...wire }: WireEntry): JournalEntry => ({
  ...{ run, sequence: wire.sequence, at: Date.parse(time) },
  ...contentFromWire(wire),
});

export const newEntryToWire = ({ at, ...entry }: NewEntry): WireNewEntry => ({
  sequence: entry.sequence,
  ...(at !== undefined && { time: toRfc3339(at) }),
  ...contentToWire(entry),
});

type Content = Pick<JournalEntry, 'type' | 'stream' | 'output' | 'data'>;
type WireContent = Pick<WireEntry, 'type' | 'stream' | 'output' | 'output_base64' | 'data'>;

const contentToWire = ({ type, stream, output, data }: Content): WireContent => ({
  type,
  ...(stream && { stream }),
  ...(output && outputToWire(output)),
  ...(data !== undefined && { data }),
});

function contentFromWire({ type, stream, data, ...wire }: WireContent): Content {
  const output = outputFromWire(wire);
  return { type, ...(stream && { stream }), ...(output && { output }), ...(data !== undefined && { data }) };
}

// A byte order mark is output like any other.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

function outputToWire(bytes: Uint8Array): Pick<WireEntry, 'output' | 'output_base64'> {
  try {
    return { output: decoder.decode(bytes) };
  } catch {
    return { output_base64: base64Of(bytes) };
  }
}

/** The bytes of an output; undefined where there is none. Throws where the base64 is none. */
export function outputFromWire({
  output,
  output_base64,
}: Pick<WireEntry, 'output' | 'output_base64'>): Uint8Array | undefined {
  if (output !== undefined) return encoder.encode(output);
  return output_base64 === undefined ? undefined : Uint8Array.from(atob(output_base64), (byte) => byte.charCodeAt(0));
}

/** As many as may safely be the arguments of one call. */
const AT_ONCE = 8_192;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += AT_ONCE) text += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return btoa(text);
}
