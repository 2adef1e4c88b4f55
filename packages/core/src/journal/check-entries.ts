import { checkJson, checkNames, isObject } from '../check.ts';
import { invalidField, WaybillError } from '../errors.ts';
import {
  DROPPED_TYPE,
  entryBytes,
  isEntryType,
  isReservedType,
  type JournalEntry,
  LONGEST_TYPE,
  MOST_ENTRIES,
  type NewEntry,
  OUTPUT_TYPE,
  STREAMS,
} from './entry.ts';

/** The last moment that RFC 3339, in which times travel, can write. */
const LATEST = Date.UTC(10_000, 0) - 1;
const NAMES: Readonly<Record<keyof NewEntry, true>> = {
  ...{ sequence: true, at: true, type: true, stream: true, output: true, data: true },
};

export type CheckedEntry = Omit<JournalEntry, 'run'> & { bytes: number };

/** Refuses what no journal can keep, before anything of it is stored. `mostBytes`: what one entry may have. */
export function checkEntries(entries: unknown, now: number, mostBytes: number): CheckedEntry[] {
  if (!Array.isArray(entries)) throw invalidField('entries', 'must be a list.');
  if (entries.length === 0 || entries.length > MOST_ENTRIES)
    throw invalidField('entries', `must have 1 to ${MOST_ENTRIES} entries, not ${entries.length}.`, {
      ...{ min: 1, max: MOST_ENTRIES },
    });
  let before = -1;
  return entries.map((entry: unknown, index) => {
    const field = `entries[${index}]`;
    const checked = checkEntry(entry, field, now);
    if (checked.sequence <= before)
      throw invalidField(`${field}.sequence`, `must be more than ${before}, the one before it.`);
    before = checked.sequence;
    if (checked.bytes > mostBytes) throw tooLarge(field, checked.bytes, mostBytes);
    return checked;
  });
}

function checkEntry(entry: unknown, field: string, now: number): CheckedEntry {
  if (!isObject(entry)) throw invalidField(field, 'must be an object.');
  checkNames(`'${field}'`, entry, Object.keys(NAMES));
  const { sequence, at = now, type, stream, output, data } = entry as unknown as Partial<NewEntry>;
  if (!isCount(sequence)) throw invalidField(`${field}.sequence`, 'must be an integer from 0 to 2^53 - 1.');
  if (!isCount(at) || at > LATEST)
    throw invalidField(`${field}.at`, 'must be milliseconds since 1970, before the year 10000.');
  if (!isEntryType(type))
    throw invalidField(`${field}.type`, `must be a name of at most ${LONGEST_TYPE} letters, digits and _ . : / -.`);
  // A worker says what it could not send. Everything else of that kind would be a forgery.
  if (isReservedType(type) && type !== DROPPED_TYPE)
    throw invalidField(`${field}.type`, `must not be '${type}': names that begin with 'journal.' are Waybill's own.`);
  const head = { sequence, at, type };
  if (type !== OUTPUT_TYPE) {
    if (output !== undefined || stream !== undefined)
      throw invalidField(`${field}.${output === undefined ? 'stream' : 'output'}`, `is for '${OUTPUT_TYPE}' only.`);
    if (data === undefined) return { ...head, bytes: entryBytes({}) };
    checkJson(data);
    return { ...head, data, bytes: entryBytes({ data }) };
  }
  if (!(output instanceof Uint8Array)) throw invalidField(`${field}.output`, 'must be bytes.');
  if (data !== undefined) throw invalidField(`${field}.data`, `is not for '${OUTPUT_TYPE}', which has bytes.`);
  if (stream !== undefined && !STREAMS.includes(stream))
    throw invalidField(`${field}.stream`, `must be ${STREAMS.join(' or ')}.`, { allowed: STREAMS });
  return { ...head, output, ...(stream && { stream }), bytes: entryBytes({ output }) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const tooLarge = (field: string, bytes: number, most: number): WaybillError =>
  new WaybillError('payload_too_large', `'${field}' has ${bytes} bytes, and an entry may have ${most}.`, {
    details: { field, bytes, max_bytes: most },
    hint: 'Send it in parts, or configure a blob store, which keeps larger ones.',
  });
