import { type BlobStore, blobFolderOf, type Job, WaybillError } from '@waybill/core';

/** Files of a job: they outlive its runs, every run of the job finds them, and they go when the job goes. */
export interface RunFiles {
  /** Writes a file, or writes over the one of this name. Durable when it answers. */
  put(name: string, data: Uint8Array): Promise<void>;
  /** Null when there is no such file. */
  get(name: string): Promise<Uint8Array | null>;
}

/** Where a worker keeps the files of jobs. */
export type FileStore = Pick<BlobStore, 'put' | 'get'>;

const LONGEST_NAME = 300;
const NAME = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

export function filesOf(job: Pick<Job, 'id' | 'tenant'>, store: FileStore | undefined): RunFiles {
  const keyOf = (name: string): string => {
    if (typeof name === 'string' && name.length <= LONGEST_NAME && NAME.test(name))
      return `${blobFolderOf(job)}files/${name}`;
    const shown = String(name).slice(0, 100);
    const rule = 'Use words of letters, digits and _ . -, joined by slashes, at most 300 characters.';
    throw new WaybillError('invalid_request', `Invalid file name '${shown}'. ${rule}`);
  };
  return {
    put: async (name, data) => {
      const key = keyOf(name);
      if (!(data instanceof Uint8Array))
        throw new WaybillError('invalid_request', `context.files.put('${name}') takes bytes, not ${typeof data}.`);
      await opened(store).put(key, data);
    },
    get: async (name) => opened(store).get(keyOf(name)),
  };
}

function opened(store: FileStore | undefined): FileStore {
  if (store !== undefined) return store;
  throw new WaybillError('unsupported', 'This worker has no place for files of jobs.', {
    hint: "Give the connection a place: connect(url, { blobs: 'file:./blobs' }), or --blobs for the command.",
  });
}
