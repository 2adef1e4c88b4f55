import type { Job } from '../job/job.ts';
import type { Json } from '../json.ts';
import type { JobKey } from '../store/query.ts';
import type { BlobStore } from './blob-store.ts';
import { Gate } from './gate.ts';
import { PayloadError, payloadFailure } from './payload-error.ts';
import {
  type BlobReference,
  escaped,
  folderOf,
  isMark,
  nameOf,
  readReference,
  referenceTo,
  unescaped,
} from './reference.ts';

/** Blobs on the way at once, so that a large page neither floods memory nor runs out of sockets. */
const AT_ONCE = 16;

/** A payload that could not be had. */
export interface Lack {
  key: string;
  /** Why, when the blob store failed; absent: there is no such blob. */
  cause?: unknown;
}

export interface Opened {
  value: Json;
  lack?: Lack;
}

/** Single payloads on their way into a row and out of it. */
export class Payloads {
  readonly threshold: number;
  readonly #blobs: BlobStore;
  readonly #gate = new Gate(AT_ONCE);
  /**
   * What stands in the row for something that only the engine makes and nobody changes: specs, errors, references. A payload
   * as such is never known again: whoever gave it may have changed it since.
   */
  readonly #known = new WeakMap<object, { folder: string; stored: unknown }>();

  constructor(blobs: BlobStore, threshold: number) {
    this.#blobs = blobs;
    this.threshold = threshold;
  }

  /** What the row shall hold: the value itself, or a reference to where it is now. */
  async seal(owner: JobKey, field: string, value: Json, threshold = this.threshold): Promise<Json> {
    const known = this.recall<Json>(owner, value);
    if (known !== undefined) return known;
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) <= threshold) return escaped(value);
    const body = Buffer.from(text);
    const reference = { name: nameOf(field, body), bytes: body.byteLength };
    await this.#gate
      .pass(() => this.#blobs.put(keyOf(owner, reference), body))
      .catch((cause: unknown) => {
        throw payloadFailure(cause);
      });
    return referenceTo(reference);
  }

  /** What the row stands for. A value that cannot be had stays the reference, and goes back as one. */
  async open(owner: JobKey, stored: Json): Promise<Opened> {
    const reference = readReference(stored);
    if (reference === null) return { value: unescaped(stored) };
    const key = keyOf(owner, reference);
    try {
      const body = await this.#gate.pass(() => this.#blobs.get(key));
      if (body === null) return { value: this.leave(owner, stored), lack: { key } };
      return { value: JSON.parse(new TextDecoder().decode(body)) as Json };
    } catch (cause) {
      return { value: this.leave(owner, stored), lack: { key, cause } };
    }
  }

  /** For readers who do not look at it: it shall be written back as it is. */
  leave<T extends Json>(owner: JobKey, stored: T): T {
    if (isMark(stored)) this.remember(owner, stored, stored);
    return stored;
  }

  remember<T>(owner: JobKey, value: unknown, stored: T): T {
    if (typeof value === 'object' && value !== null) this.#known.set(value, { folder: folderOf(owner), stored });
    return stored;
  }

  /** Only within the same job: others may share a spec, but not the blob. */
  recall<T>(owner: JobKey, value: unknown): T | undefined {
    const known = typeof value === 'object' && value !== null ? this.#known.get(value) : undefined;
    return known?.folder === folderOf(owner) ? (known.stored as T) : undefined;
  }

  async urlOf(owner: JobKey, reference: BlobReference, forMs: number): Promise<string | undefined> {
    return this.#blobs.presign?.(keyOf(owner, reference), forMs);
  }
}

const keyOf = (owner: JobKey, { name }: BlobReference): string => folderOf(owner) + name;

/** Why a payload cannot be given. The cause stays in the logs: it may tell of addresses and keys. */
export function lackError(job: JobKey & Partial<Pick<Job, 'queue' | 'type'>>, { key, cause }: Lack): PayloadError {
  const { id, queue, type } = job;
  const where = queue === undefined || type === undefined ? {} : { queue, type };
  const details = { job_id: id, key, ...where };
  if (cause !== undefined)
    return new PayloadError('unavailable', `A payload of job ${id} cannot be read now: ${key}.`, { details, cause });
  return new PayloadError('payload_missing', `A payload of job ${id} is gone from the blob store: ${key}.`, {
    details,
    hint: 'Give every process the same blob store, and let nothing else remove blobs from it.',
  });
}
