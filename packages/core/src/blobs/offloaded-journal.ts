import type { AppendRequest, JournalBatch, JournalStore } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import type { BlobStore } from './blob-store.ts';
import { payloadFailure } from './payload-error.ts';
import { folderOf, nameOf } from './reference.ts';

/** The first byte of a body that is the name of a blob; the others are the codec's. */
const ELSEWHERE = 2;

/**
 * The journal with bodies that are too large for the store elsewhere: a blob is put before the batch that refers to it.
 * It goes with its job, as all its blobs do. A body whose blob is missing stays a reference, which no reader can unpack:
 * the reader shows it as unreadable, and reads the rest of the journal. A blob store that is away fails the read, because
 * a reader that went on would never see the entry.
 */
export function offloadedJournal(inner: JournalStore, blobs: BlobStore, threshold: number): JournalStore {
  const keyOf = (owner: JobKey, name: string) => `${folderOf(owner)}${name}`;

  async function sealed({ batch, ...request }: AppendRequest): Promise<AppendRequest> {
    if (batch.body.length <= threshold) return { ...request, batch };
    const name = nameOf('journal', Buffer.from(batch.body));
    await blobs.put(keyOf(request, name), batch.body).catch((cause: unknown) => {
      throw payloadFailure(cause);
    });
    return { ...request, batch: { ...batch, body: Buffer.concat([Buffer.of(ELSEWHERE), Buffer.from(name)]) } };
  }

  async function open(owner: JobKey, batch: JournalBatch): Promise<JournalBatch> {
    if (batch.body[0] !== ELSEWHERE) return batch;
    const name = Buffer.from(batch.body.subarray(1)).toString();
    const body = await blobs.get(keyOf(owner, name)).catch((cause: unknown) => {
      throw payloadFailure(cause);
    });
    return body === null ? batch : { ...batch, body };
  }

  return {
    append: async (requests) => inner.append(await Promise.all(requests.map(sealed))),
    read: async (query) => {
      const { batches, more } = await inner.read(query);
      return { batches: await Promise.all(batches.map((batch) => open(query, batch))), more };
    },
    onGrown: (listener) => inner.onGrown(listener),
  };
}
