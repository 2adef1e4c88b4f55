import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Clock, Jobs, Logger } from '@waybill/core';
import { AppendSender, NotSent, refusalOf } from '../append-sender.ts';
import { countDropped, type DropReason, type JournalCounts } from '../journal-counts.ts';
import { ALIVE_EVERY_MS, OutboxFiles, type RunKey, runPartOf } from './outbox-files.ts';
import { notKept, WalFile } from './wal-file.ts';
import type { OpenFile } from './wal-io.ts';

export interface OutboxParts {
  jobs: Pick<Jobs, 'append'>;
  clock: Clock;
  logger: Logger;
  counts: JournalCounts;
  /** @defaultValue that of the file system */
  openFile?: OpenFile;
}

/** The file of one run under way. */
export interface OpenOutbox {
  readonly file: WalFile;
  remove(): Promise<void>;
  /** The entries that were not sent would be refused from now on. */
  moveToLost(): Promise<void>;
  /** They may still be sent: by this worker as soon as it can, or by one that starts later. */
  leave(): Promise<void>;
}

/** One folder in which entries are durable before they are sent. */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #files: OutboxFiles;
  readonly #ending = new AbortController();
  #isStarted = false;
  #openFiles = 0;
  #keepingAlive: Promise<void> | undefined;
  #orphans: Promise<void> = Promise.resolve();
  /** Looks for orphans that wait or are under way. */
  #looks = 0;
  #hasLookFailed = false;
  /** By the part of the name that stays when a file is taken over. */
  readonly #failedFiles = new Set<string>();

  constructor(folder: string, parts: OutboxParts) {
    this.#parts = parts;
    this.#files = new OutboxFiles(folder);
  }

  /** Sends what other processes have left, and looks for more of it until the end. */
  start(): void {
    this.#isStarted = true;
    this.#orphans = this.#files.pruneLost().catch(() => {});
    void this.sendOrphans();
    this.#keepingAlive ??= this.#keepAlive();
  }

  async end(): Promise<void> {
    this.#ending.abort('ended');
    await this.#orphans;
    await this.#keepingAlive;
  }

  async open(key: RunKey): Promise<OpenOutbox> {
    const { openFile = open } = this.#parts;
    let at = this.#files.folder;
    try {
      at = await this.#files.newPath(key);
      const file = await WalFile.create(at, { version: 1, ...key }, openFile);
      this.#openFiles += 1;
      this.#keepingAlive ??= this.#keepAlive();
      return this.#handle(file);
    } catch (error) {
      this.#files.release(at);
      throw notKept(at, error);
    }
  }

  /** Resolves when all files without an owner are sent, moved away, or the outbox has ended. */
  sendOrphans(): Promise<void> {
    this.#looks += 1;
    this.#orphans = this.#orphans
      .then(() => this.#sendAll())
      .then(
        () => {
          this.#hasLookFailed = false;
        },
        (error: unknown) => this.#lookFailed(error),
      )
      .finally(() => {
        this.#looks -= 1;
      });
    return this.#orphans;
  }

  /** Reported once until a look succeeds again. */
  #lookFailed(error: unknown): void {
    const { logger } = this.#parts;
    const level = this.#hasLookFailed ? 'debug' : 'error';
    this.#hasLookFailed = true;
    logger[level]({ err: error, outbox: this.#files.folder }, 'Entries left in the outbox could not be sent.');
  }

  #handle(file: WalFile): OpenOutbox {
    const over = async (): Promise<void> => {
      this.#openFiles -= 1;
      await file.close();
    };
    return {
      file,
      remove: async () => {
        await over();
        await this.#files.remove(file.path);
      },
      moveToLost: async () => {
        await file.keepName().catch(() => {});
        await over();
        await this.#lose(file, 'the lease of its run was lost', 'lease_lost');
      },
      leave: async () => {
        await file.keepName().catch(() => {});
        await over();
        this.#files.release(file.path);
        if (!this.#ending.signal.aborted) void this.sendOrphans();
      },
    };
  }

  /** Other hosts see by it that the open files have an owner. A process that dies is noticed by the look for its files. */
  async #keepAlive(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#ending;
    while ((this.#isStarted || this.#openFiles > 0) && !signal.aborted) {
      if (this.#openFiles > 0) await this.#files.touchAlive().catch(() => {});
      await clock.sleep(ALIVE_EVERY_MS, signal);
      if (this.#isStarted && this.#looks === 0 && !signal.aborted) void this.sendOrphans();
    }
    this.#keepingAlive = undefined;
  }

  async #sendAll(): Promise<void> {
    await this.#files.prepare();
    for (const name of await this.#files.orphans()) {
      if (this.#ending.signal.aborted) return;
      await this.#takeAndSend(name);
    }
  }

  /** Never throws: a file that cannot be read must not keep the others from being sent. */
  async #takeAndSend(name: string): Promise<void> {
    let at: string | undefined;
    try {
      at = await this.#files.take(name);
      if (at !== undefined) await this.#sendOne(at);
      this.#failedFiles.delete(runPartOf(name));
    } catch (error) {
      // So the next look tries it again.
      if (at !== undefined) this.#files.release(at);
      this.#fileFailed(at ?? path.join(this.#files.folder, name), error);
    }
  }

  /** Reported once per file until it is sent. */
  #fileFailed(file: string, error: unknown): void {
    const run = runPartOf(path.basename(file));
    const level = this.#failedFiles.has(run) ? 'debug' : 'error';
    this.#failedFiles.add(run);
    this.#parts.logger[level]({ err: error, file }, 'A file in the outbox could not be sent. It is tried again.');
  }

  async #sendOne(at: string): Promise<void> {
    const { logger } = this.#parts;
    const file = await WalFile.recover(at);
    if (!file) {
      const lost = await this.#files.moveToLost(at);
      logger.warn({ file: lost }, 'A file in the outbox has no header and was moved away.');
      return;
    }
    if (file.tornBytes > 0)
      logger.warn(
        { file: at, bytes: file.tornBytes },
        'The end of a file in the outbox was not written completely and was cut off.',
      );
    this.#openFiles += 1;
    this.#keepingAlive ??= this.#keepAlive();
    try {
      await this.#send(file);
    } finally {
      this.#openFiles -= 1;
    }
  }

  async #send(file: WalFile): Promise<void> {
    const { logger, counts } = this.#parts;
    const { tenant, id, run, leaseToken } = file.header;
    const sender = new AppendSender(this.#parts, { tenant, id, leaseToken }, this.#ending.signal);
    const { entries } = file.unsent;
    try {
      for (let batch = await file.next(); batch; batch = await file.next()) {
        const { refused, cut } = await sender.send(batch.entries);
        await file.ack(batch).catch(() => {});
        counts.stored += batch.entries.length - refused.length - cut;
        countDropped(counts, refused.length, 'refused');
        countDropped(counts, cut, 'cut');
      }
    } catch (error) {
      await file.close();
      if (error instanceof NotSent) this.#files.release(file.path);
      else await this.#lose(file, error instanceof Error ? error.message : String(error), refusalOf(error));
      return;
    }
    await file.close();
    await this.#files.remove(file.path);
    if (entries > 0) logger.info({ job: id, run, entries }, 'Entries that an earlier worker had left were stored.');
  }

  async #lose(file: WalFile, why: string, reason: DropReason): Promise<void> {
    const { logger, counts } = this.#parts;
    const { id, run } = file.header;
    const { entries } = file.unsent;
    countDropped(counts, entries, reason);
    const lost = await this.#files.moveToLost(file.path);
    logger.warn(
      { job: id, run, entries, file: lost },
      `${entries} entries of run ${run} of job ${id} were not stored: ${why}.`,
    );
  }
}
