import type { Batch } from '../delivery.ts';
import { decodeRecord, LARGEST_RECORD, lengthOf, PREFIX_BYTES, type WalHeader, type WalRecord } from './wal-records.ts';

/** As much of Node's FileHandle as a file needs. Written out, because projects without the types of Node compile this, too. */
export interface OpenedFile {
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(from: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  stat(): Promise<{ size: number }>;
  stat(options: { bigint: true }): Promise<{ dev: bigint; ino: bigint }>;
  close(): Promise<void>;
}

export type OpenFile = (path: string, flags: string, mode?: number) => Promise<OpenedFile>;

/** A record, and where it is. */
export interface Found {
  record: WalRecord;
  /** Where the next one begins. */
  end: number;
}

/** A batch that was not acknowledged. */
export interface UnsentBatch {
  start: number;
  end: number;
  /** The sequence of its last entry. */
  last: number;
  entries: number;
  critical: number;
  /** Of its oldest and of its newest entry. */
  firstAt: number;
  lastAt: number;
}

export interface Scanned {
  header: WalHeader;
  headerEnd: number;
  unsent: UnsentBatch[];
  /** Where the last whole record ends. What is behind it was not written completely. */
  end: number;
  size: number;
}

/** Reads a whole file, and changes nothing. Undefined where not even the header is whole. */
export async function scan(file: Pick<OpenedFile, 'read' | 'stat'>): Promise<Scanned | undefined> {
  const first = await readRecord(file, 0);
  if (first?.record.kind !== 'header') return undefined;
  const { size } = await file.stat();
  const batches: UnsentBatch[] = [];
  let [end, acked] = [first.end, -1];
  for (let next = await readRecord(file, end); next; next = await readRecord(file, end)) {
    const { record } = next;
    if (record.kind === 'ack') acked = Math.max(acked, record.last);
    if (record.kind === 'batch') batches.push({ start: end, end: next.end, ...countsOf(record.batch) });
    end = next.end;
  }
  const unsent = batches.filter(({ last }) => last > acked);
  return { header: first.record.header, headerEnd: first.end, unsent, end, size };
}

function countsOf({ entries, critical }: Batch) {
  let [firstAt, lastAt] = [Number.POSITIVE_INFINITY, 0];
  for (const { at = 0 } of entries) [firstAt, lastAt] = [Math.min(firstAt, at), Math.max(lastAt, at)];
  return { last: entries.at(-1)!.sequence, entries: entries.length, critical: critical.length, firstAt, lastAt };
}

export async function writeAll(file: OpenedFile, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

export async function readRecord(file: Pick<OpenedFile, 'read' | 'stat'>, at: number): Promise<Found | undefined> {
  const prefix = await readExactly(file, at, PREFIX_BYTES);
  if (!prefix || lengthOf(prefix) > LARGEST_RECORD) return undefined;
  const payload = await readExactly(file, at + PREFIX_BYTES, lengthOf(prefix));
  const record = payload && decodeRecord(prefix, payload);
  return record && { record, end: at + PREFIX_BYTES + payload.length };
}

async function readExactly(
  file: Pick<OpenedFile, 'read' | 'stat'>,
  at: number,
  length: number,
): Promise<Buffer | undefined> {
  // The length may be that of a torn record: what is not there needs no memory.
  if ((await file.stat()).size < at + length) return undefined;
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) return undefined;
    done += bytesRead;
  }
  return bytes;
}
