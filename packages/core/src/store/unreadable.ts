/** A row whose columns are damaged: a person wrote to the database by hand, or a newer version did. */
export interface UnreadableRow {
  kind: 'job' | 'cron' | 'limit';
  tenant: string;
  /** Id of the job, name of the cron, key of the limit. */
  id: string;
  cause: unknown;
}

/**
 * Decodes each row by itself, so that one that cannot be read does not hide the others. `isOwn` tells whether a failure is
 * the row's own; any other ends the call.
 */
export function readEach<R, T>(
  rows: readonly R[],
  decode: (row: R) => T,
  nameOf: (row: R) => Omit<UnreadableRow, 'cause'>,
  isOwn: (error: unknown) => boolean = () => true,
): { read: T[]; unreadable: UnreadableRow[] } {
  const read: T[] = [];
  const unreadable: UnreadableRow[] = [];
  for (const row of rows) {
    try {
      read.push(decode(row));
    } catch (cause) {
      if (!isOwn(cause)) throw cause;
      unreadable.push({ ...nameOf(row), cause });
    }
  }
  return { read, unreadable };
}
