import type { BlobStore } from '@waybill/core';
import type { FileStore } from '@waybill/worker';
import { openBlobs } from '../connect/open-blobs.ts';
import { isInstrumentation, type TelemetryOption } from './telemetry-option.ts';

/** Where workers of a connection keep the files of jobs. Most runs have no files, so it is opened by the first that has. */
export class LazyFileStore implements FileStore {
  readonly #address: string;
  readonly #telemetry: TelemetryOption | undefined;
  #store: Promise<BlobStore> | undefined;

  constructor(address: string, telemetry?: TelemetryOption) {
    this.#address = address;
    this.#telemetry = telemetry;
  }

  async put(...call: Parameters<FileStore['put']>): Promise<void> {
    return (await this.#opened()).put(...call);
  }

  async get(...call: Parameters<FileStore['get']>): Promise<Uint8Array | null> {
    return (await this.#opened()).get(...call);
  }

  async close(): Promise<void> {
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }

  /** One that could not be opened is tried again by the next call. */
  #opened(): Promise<BlobStore> {
    this.#store ??= this.#open().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  async #open(): Promise<BlobStore> {
    const { store } = await openBlobs(this.#address);
    return isInstrumentation(this.#telemetry) ? this.#telemetry.blobs(store) : store;
  }
}
