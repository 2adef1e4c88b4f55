import type { Appended, NewEntry } from '@waybill/core';
import { RemoteError } from './http/remote-error.ts';

/** Of what one call sends, more or less: well below what a server takes as one message. */
const BYTES_AT_ONCE = 256 * 1_024;
/**
 * An entry beside its content, in a message. The size of an entry is core's `entryBytes`, which this package does not load; here it is only
 * an estimate, because a call that turns out to be too large is sent in halves.
 */
const MESSAGE_BYTES = 150;

type Send = (some: readonly NewEntry[]) => Promise<Appended>;

/** Appends in order, in calls of a size that servers take. At least one, so that a server gets to refuse what is empty. */
export async function appendInSlices(entries: readonly NewEntry[], send: Send): Promise<Appended> {
  const [first = [], ...others] = slicesOf(entries);
  let all = await inParts(first, send);
  for (const slice of others) all = joined(all, await inParts(slice, send));
  return all;
}

function slicesOf(entries: readonly NewEntry[]): NewEntry[][] {
  const slices: NewEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const { output, data } = entry ?? {};
    const size = MESSAGE_BYTES + (output?.length ?? (data === undefined ? 0 : (JSON.stringify(data)?.length ?? 0)));
    if (bytes + size > BYTES_AT_ONCE) {
      slices.push([]);
      bytes = 0;
    }
    bytes += size;
    slices.at(-1)!.push(entry);
  }
  return slices;
}

/** Servers take messages of different sizes, and as JSON some output is much longer than it is. */
async function inParts(entries: readonly NewEntry[], send: Send): Promise<Appended> {
  try {
    return await send(entries);
  } catch (error) {
    const isTooLarge = error instanceof RemoteError && error.code === 'payload_too_large';
    if (!isTooLarge || entries.length < 2) throw error;
    const half = Math.ceil(entries.length / 2);
    const first = await inParts(entries.slice(0, half), send);
    return joined(first, await inParts(entries.slice(half), send));
  }
}

const joined = (before: Appended, { run, stored, head, cut }: Appended): Appended => ({
  ...{ run, stored: before.stored + stored, head: head ?? before.head, cut: before.cut + cut },
});
