import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Batch, NotKept } from '../delivery.ts';
import { type Found, type OpenedFile, type OpenFile, readRecord, scan, writeAll } from './wal-io.ts';
import { encodeRecord, type WalHeader } from './wal-records.ts';

/** A file whose batches are all acknowledged starts over at this size, so that a long run does not fill the disk. */
const START_OVER_BYTES = 4 * 1_024 * 1_024;

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
    const found = await scan(file);
    if (!found) return undefined;
    const { header, headerEnd, end, size, unsent: left } = found;
    if (size > end) await file.truncate(end);
    const wal = new WalFile(file, at, header, { header: headerEnd, end, torn: size - end });
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
