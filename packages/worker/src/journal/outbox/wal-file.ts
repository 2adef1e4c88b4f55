import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Batch, NotKept } from '../delivery.ts';
import {
  decodeRecord,
  encodeRecord,
  LARGEST_RECORD,
  lengthOf,
  PREFIX_BYTES,
  type WalHeader,
  type WalRecord,
} from './wal-records.ts';

/** A file whose batches are all acknowledged starts over at this size, so that a long run does not fill the disk. */
const START_OVER_BYTES = 4 * 1_024 * 1_024;

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

interface Found {
  record: WalRecord;
  /** Where the next one begins. */
  end: number;
}

/**
 * The entries of one run, durable before they are sent. One process writes and sends a file. Batches are read back from it,
 * so that an outage fills the disk and not the memory.
 */
export class WalFile {
  readonly path: string;
  readonly header: WalHeader;
  readonly #openFile: OpenFile;
  #file: OpenedFile;
  readonly #headerEnd: number;
  #end: number;
  /** Where the first batch without an acknowledgement is looked for. */
  #readAt: number;
  /** Where the batch ends that `next` gave. Undefined: it is not in this file any more. */
  #ackTo: number | undefined;
  #unsent = { entries: 0, critical: 0 };
  #writes: Promise<unknown> = Promise.resolve();
  /** Bytes at the end that a crash has left, and that were cut off. */
  readonly tornBytes: number;

  private constructor(
    file: OpenedFile,
    at: string,
    header: WalHeader,
    ends: { header: number; end: number; torn: number },
    openFile: OpenFile = open,
  ) {
    this.#openFile = openFile;
    this.#file = file;
    this.path = at;
    this.header = header;
    this.#headerEnd = ends.header;
    this.#end = ends.end;
    this.#readAt = ends.header;
    this.tornBytes = ends.torn;
  }

  /** A new file, for its owner alone: it has a lease token. */
  static async create(at: string, header: WalHeader, openFile: OpenFile = open): Promise<WalFile> {
    const file = await openFile(at, 'wx+', 0o600);
    try {
      const record = encodeRecord({ kind: 'header', header });
      await writeAll(file, record, 0);
      await file.datasync();
      await syncFolder(path.dirname(at));
      return new WalFile(file, at, header, { header: record.length, end: record.length, torn: 0 }, openFile);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** What a crash has left. Undefined where not even the header is whole. */
  static async recover(at: string): Promise<WalFile | undefined> {
    const file = await open(at, 'r+');
    try {
      const wal = await WalFile.#recovered(file, at);
      if (!wal) await file.close();
      return wal;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  static async #recovered(file: OpenedFile, at: string): Promise<WalFile | undefined> {
    const first = await readRecord(file, 0);
    if (first?.record.kind !== 'header') return undefined;
    const { size } = await file.stat();
    const batches: { start: number; end: number; last: number; entries: number; critical: number }[] = [];
    let [end, acked] = [first.end, -1];
    for (let next = await readRecord(file, end); next; next = await readRecord(file, end)) {
      const { record } = next;
      if (record.kind === 'ack') acked = Math.max(acked, record.last);
      if (record.kind === 'batch') {
        const { entries, critical } = record.batch;
        const last = entries.at(-1)!.sequence;
        batches.push({ start: end, end: next.end, last, entries: entries.length, critical: critical.length });
      }
      end = next.end;
    }
    if (size > end) await file.truncate(end);
    const wal = new WalFile(file, at, first.record.header, { header: first.end, end, torn: size - end });
    const left = batches.filter(({ last }) => last > acked);
    wal.#readAt = left[0]?.start ?? end;
    for (const { entries, critical } of left) wal.#count(entries, critical);
    return wal;
  }

  /** What is not acknowledged. */
  get unsent(): { entries: number; critical: number } {
    return { ...this.#unsent };
  }

  /** Durable, and in a file that has its name, when it resolves; nothing of it is in the file when it rejects. */
  append(batch: Batch): Promise<void> {
    return this.#inTurn(async () => {
      const record = encodeRecord({ kind: 'batch', batch });
      try {
        await this.#write(record);
        // A process that takes the file over after this finds the batch in it; one that did so before may not.
        if (await this.#hasName()) this.#end += record.length;
        else await this.#moveToNewFile(record);
      } catch (error) {
        await this.#file.truncate(this.#end).catch(() => {});
        throw notKept(this.path, error);
      }
      this.#count(batch.entries.length, batch.critical.length);
    });
  }

  /** The first batch without an acknowledgement; null when there is none now. */
  next(): Promise<Batch | null> {
    return this.#inTurn(async () => {
      while (this.#readAt < this.#end) {
        const found = await readRecord(this.#file, this.#readAt);
        if (!found) {
          if (await this.#hasName())
            throw new Error(`The outbox file ${this.path} cannot be read at byte ${this.#readAt}.`);
          await this.#moveToNewFile();
          continue;
        }
        this.#ackTo = found.end;
        if (found.record.kind === 'batch') return found.record.batch;
        this.#readAt = found.end;
      }
      return null;
    });
  }

  /** Writes what is not acknowledged into a new file if another process has taken this one over. */
  keepName(): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await this.#hasName())) await this.#moveToNewFile();
    });
  }

  /** The server has answered for the batch that `next` gave. Not synced: without the mark the batch is only sent once more. */
  ack({ entries, critical }: Batch): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#ackTo === undefined) return;
      this.#readAt = this.#ackTo;
      this.#count(-entries.length, -critical.length);
      const isAll = this.#readAt === this.#end;
      if (isAll && this.#end > START_OVER_BYTES) {
        await this.#startOver();
        return;
      }
      const record = encodeRecord({ kind: 'ack', last: entries.at(-1)!.sequence });
      await writeAll(this.#file, record, this.#end);
      this.#end += record.length;
    });
  }

  async close(): Promise<void> {
    await this.#writes.catch(() => {});
    await this.#file.close();
  }

  #count(entries: number, critical: number): void {
    this.#unsent.entries += entries;
    this.#unsent.critical += critical;
  }

  /** On a full disk, acknowledged batches make room for a new one. */
  async #write(record: Uint8Array): Promise<void> {
    const attempt = async (): Promise<void> => {
      await writeAll(this.#file, record, this.#end);
      await this.#file.datasync();
    };
    try {
      await attempt();
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
      if (!isFull || this.#unsent.entries > 0 || this.#end === this.#headerEnd) throw error;
      await this.#startOver();
      await attempt();
    }
  }

  async #startOver(): Promise<void> {
    await this.#file.truncate(this.#headerEnd);
    this.#end = this.#headerEnd;
    this.#readAt = this.#headerEnd;
  }

  /** Whether the path still leads to the open file: another process that takes this one for dead renames it. */
  async #hasName(): Promise<boolean> {
    const own = await this.#file.stat({ bigint: true });
    try {
      const named = await stat(this.path, { bigint: true });
      return named.ino === own.ino && named.dev === own.dev;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  /**
   * Goes on in a new file of the same name, with what is not acknowledged and with one more record. The other process sends
   * the same entries from the old file, and the server stores them once. What cannot be read here was in the file before
   * that process took it over, and is the other's to send.
   */
  async #moveToNewFile(more: Uint8Array = new Uint8Array()): Promise<void> {
    const draft = `${this.path}.new`;
    const file = await this.#openFile(draft, 'w+', 0o600);
    let at = draft;
    try {
      const { end, firstEnd, unsent } = await this.#copyUnsent(file, more);
      await file.datasync();
      await rename(draft, this.path);
      at = this.path;
      await syncFolder(path.dirname(this.path));
      await this.#file.close().catch(() => {});
      this.#file = file;
      this.#end = end;
      this.#readAt = this.#headerEnd;
      this.#ackTo = firstEnd;
      this.#unsent = unsent;
    } catch (error) {
      await file.close();
      await rm(at, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** `firstEnd` is where the batch ends that `next` gave last: it is the first one in the new file. */
  async #copyUnsent(file: OpenedFile, more: Uint8Array) {
    await writeAll(file, encodeRecord({ kind: 'header', header: this.header }), 0);
    const unsent = { entries: 0, critical: 0 };
    let end = this.#headerEnd;
    let firstEnd: number | undefined;
    let found: Found | undefined;
    for (let at = this.#readAt; at < this.#end; at = found.end) {
      found = await readRecord(this.#file, at);
      if (!found) break;
      if (found.record.kind !== 'batch') continue;
      const { entries, critical } = found.record.batch;
      const record = encodeRecord(found.record);
      await writeAll(file, record, end);
      end += record.length;
      firstEnd ??= end;
      unsent.entries += entries.length;
      unsent.critical += critical.length;
    }
    await writeAll(file, more, end);
    return { end: end + more.length, firstEnd, unsent };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#writes.then(work, work);
    this.#writes = mine.catch(() => {});
    return mine;
  }
}

async function writeAll(file: OpenedFile, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

async function readRecord(file: OpenedFile, at: number): Promise<Found | undefined> {
  const prefix = await readExactly(file, at, PREFIX_BYTES);
  if (!prefix || lengthOf(prefix) > LARGEST_RECORD) return undefined;
  const payload = await readExactly(file, at + PREFIX_BYTES, lengthOf(prefix));
  const record = payload && decodeRecord(prefix, payload);
  return record && { record, end: at + PREFIX_BYTES + payload.length };
}

async function readExactly(file: OpenedFile, at: number, length: number): Promise<Buffer | undefined> {
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

/** A new name is durable when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folders; there a name is durable with its file.
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

export function notKept(at: string, cause: unknown): NotKept {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const what = code === 'ENOSPC' ? 'the disk is full' : cause instanceof Error ? cause.message : String(cause);
  return new NotKept(`The outbox file ${at} could not be written: ${what}.`, { cause });
}
