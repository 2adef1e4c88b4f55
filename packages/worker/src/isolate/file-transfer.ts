import { WaybillError } from '@waybill/core';
import type { RunFiles } from '../run-files.ts';

/** Bytes as base64. */
export interface FilePart {
  bytes: string;
  isLast: boolean;
}

/** Bytes of one part of a file: a line of the channel must have room for it. */
export const PART_BYTES = 512 * 1_024;
/** Bytes of one file that an isolated process puts. The worker holds one of them at a time for each run. */
export const LARGEST_FILE = 64 * 1_024 * 1_024;

export const tooLarge = (name: string): WaybillError =>
  new WaybillError('payload_too_large', `The file '${name}' has more than ${LARGEST_FILE} bytes.`, {
    hint: 'An isolated process puts no larger files. Split it, or keep it elsewhere.',
  });

/** Files of one run on their way through the channel, part by part. One goes in and one comes out at a time. */
export class FileTransfer {
  readonly #files: () => RunFiles;
  #incoming: { name: string; parts: Buffer[]; bytes: number } | undefined;
  #outgoing: { name: string; data: Uint8Array } | undefined;

  constructor(files: () => RunFiles) {
    this.#files = files;
  }

  async put(name: string, part: Buffer, isLast: boolean): Promise<void> {
    const file = this.#incoming?.name === name ? this.#incoming : { name, parts: [], bytes: 0 };
    this.#incoming = file;
    file.parts.push(part);
    file.bytes += part.length;
    if (file.bytes > LARGEST_FILE) {
      this.#incoming = undefined;
      throw tooLarge(name);
    }
    if (!isLast) return;
    this.#incoming = undefined;
    await this.#files().put(name, Buffer.concat(file.parts));
  }

  async get(name: string, part: number): Promise<FilePart | null> {
    if (part === 0) {
      const data = await this.#files().get(name);
      if (data === null) return null;
      this.#outgoing = { name, data };
    }
    if (this.#outgoing?.name !== name)
      throw new WaybillError('invalid_request', `The file '${name}' was not asked for from its beginning.`);
    const { data } = this.#outgoing;
    const end = (part + 1) * PART_BYTES;
    const isLast = end >= data.length;
    if (isLast) this.#outgoing = undefined;
    return { bytes: Buffer.from(data.subarray(part * PART_BYTES, end)).toString('base64'), isLast };
  }
}
