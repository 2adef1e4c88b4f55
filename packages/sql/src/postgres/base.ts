import type { Bell } from './bell.ts';
import type { Floors } from './floors.ts';
import type { KnownQueues } from './known-queues.ts';
import { codeOf } from './link/failures.ts';
import type { Link } from './link/link.ts';
import type { Statements } from './queries.ts';

/** What all verbs share. */
export interface Base {
  readonly link: Link;
  /** The files of `queries`, with the schema filled in. */
  readonly sql: Statements;
  readonly floors: Floors;
  readonly bell: Pick<Bell, 'payload' | 'ready' | 'close'>;
  /** How many jobs a claim must have before the runs of its plain ones become a bundle. */
  readonly bundleFrom: number;
  /** Queues that are known to have their row; tenant and name as one key. */
  readonly knownQueues: Pick<KnownQueues, 'has' | 'add' | 'delete'>;
  /** Queues in which the last claim that came up short met no limit; keys as above. */
  readonly unlimited: Set<string>;
}

/** The link wraps what the server says, a transaction does not. */
const says = (error: unknown, code: string): boolean =>
  codeOf(error) === code || (error instanceof Error && codeOf(error.cause) === code);

/** Somebody else has just stored the same id or key. */
export const isDuplicate = (error: unknown): boolean => says(error, '23505');

/** More was asked for than fits into one answer. */
export const isTooLarge = (error: unknown): boolean => says(error, '54000');

/** Whoever loses against the same rival so often does not lose by chance. */
const MOST_TRIES = 8;

/** Repeats what a rival's insert made fail: the next try sees the rival's row. */
export async function despiteRivals<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDuplicate(error) || tries === MOST_TRIES) throw error;
    }
  }
}
