import type { Json } from '../json.ts';

export const STREAMS = ['stdout', 'stderr'] as const;
export type Stream = (typeof STREAMS)[number];

export const OUTPUT_TYPE = 'output';
/** Says that what followed was not kept, because the journal of the job had grown too large. */
export const CUT_TYPE = 'journal.cut';
/** Says how many entries are missing in its place, because the worker could not keep or send them. */
export const DROPPED_TYPE = 'journal.dropped';
/** Stands for a stored batch that cannot be read. */
export const UNREADABLE_TYPE = 'journal.unreadable';

export const PROCESS_TYPES = ['process.started', 'process.ended', 'process.failed'] as const;

/** Names that Waybill gives a meaning to. Tasks may use others. */
export const JOURNAL_TYPES = [
  ...PROCESS_TYPES,
  OUTPUT_TYPE,
  'heartbeat',
  'metric',
  'log',
  CUT_TYPE,
  DROPPED_TYPE,
] as const;

/** Only Waybill itself writes entries with these names. */
export const isReservedType = (type: string): boolean => type.startsWith('journal.');

/** What happened to a process is kept even where the journal of the job has its full size. */
export const isProcessType = (type: string): boolean => (PROCESS_TYPES as readonly string[]).includes(type);

/** One entry of the journal of a run. */
export interface JournalEntry {
  run: number;
  /** As the worker has numbered it: it grows within a run, and may skip. */
  sequence: number;
  at: number;
  type: string;
  /** Which stream an `output` came from. */
  stream?: Stream;
  /** What an `output` is: any bytes. */
  output?: Uint8Array;
  /** The content of every other type. */
  data?: Json;
}

/** Entries of one call. */
export const MOST_ENTRIES = 10_000;

/** In an index of the types of a batch a name should stay a name. */
export const LONGEST_TYPE = 128;
const TYPE = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*$/u;

export const isEntryType = (type: unknown): type is string =>
  typeof type === 'string' && type.length <= LONGEST_TYPE && TYPE.test(type);

/** An entry beside its content, at most: type, numbers and lengths. */
export const ENTRY_OVERHEAD = 64 + LONGEST_TYPE;

/** The size of an entry. All bounds of journals go by it: of a call, a batch, a page, and of what waits in memory. */
export const entryBytes = ({ output, data }: Pick<NewEntry, 'output' | 'data'>): number =>
  ENTRY_OVERHEAD + (output?.length ?? jsonBytes(data));

/** What is no JSON has no size; it is refused where the entry is checked. */
const jsonBytes = (data: Json | undefined): number =>
  data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data) ?? '');

/** An entry as it comes from a worker. */
export interface NewEntry {
  sequence: number;
  /** @defaultValue when it is stored, by the store's clock */
  at?: number;
  type: string;
  stream?: Stream;
  output?: Uint8Array;
  data?: Json;
}
