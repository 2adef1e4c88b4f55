import type { AppendRequest } from '../store/journal.ts';
import type { CheckedEntry } from './check-entries.ts';
import { compressed, pack } from './codec.ts';

/** More would make a reader that wants the last of them unpack all. */
const MOST_ENTRIES = 1_000;
const MOST_BYTES = 256 * 1_024;

/** The entries in parts, each of which becomes one stored row. An entry that is larger than a part is one by itself. */
export function slicesOf(entries: readonly CheckedEntry[]): CheckedEntry[][] {
  const slices: CheckedEntry[][] = [];
  let slice: CheckedEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    bytes += entry.bytes;
    if (slice.length > 0 && (slice.length === MOST_ENTRIES || bytes > MOST_BYTES)) {
      slices.push(slice);
      slice = [];
      bytes = entry.bytes;
    }
    slice.push(entry);
  }
  slices.push(slice);
  return slices;
}

/** What a store is asked to keep, and its weight: that of its bytes before they were made smaller. */
export async function batchOf(entries: readonly CheckedEntry[]): Promise<Pick<AppendRequest, 'batch' | 'weight'>> {
  const body = pack(entries);
  const times = entries.map(({ at }) => at);
  return {
    weight: body.length,
    batch: {
      first: entries[0]!.sequence,
      last: entries.at(-1)!.sequence,
      firstAt: times.reduce((least, at) => Math.min(least, at)),
      lastAt: times.reduce((most, at) => Math.max(most, at)),
      types: [...new Set(entries.map(({ type }) => type))],
      body: await compressed(body),
    },
  };
}
