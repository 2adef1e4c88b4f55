import { isObject } from '../check.ts';
import { CUT_TYPE, DROPPED_TYPE, type JournalEntry, OUTPUT_TYPE, UNREADABLE_TYPE } from './entry.ts';

/** Entries that stand for others, which are missing. They pass every filter of types: who reads a part must know of it, too. */
export const LOSS_TYPES: readonly string[] = [CUT_TYPE, DROPPED_TYPE, UNREADABLE_TYPE];

/** For readers of output, of what retention has removed before they came to it. */
export const MISSED_OUTPUT = 'A part of the output is missing here: retention has removed it.';

/** What a reader of output must be told in the place of this entry; undefined: no output is missing there. */
export function outputLoss({ type, data }: Pick<JournalEntry, 'type' | 'data'>): string | undefined {
  switch (type) {
    case CUT_TYPE:
      return 'The rest of the output was not kept: the journal of this job has its full size.';
    case UNREADABLE_TYPE:
      return 'A part of the output is missing here: it cannot be read.';
    case DROPPED_TYPE: {
      const { entries = undefined, type: lost = OUTPUT_TYPE } = isObject(data) ? data : {};
      if (lost !== OUTPUT_TYPE) return undefined;
      const count = typeof entries === 'number' ? `${entries} entries are` : 'Something is';
      return `${count} missing here: the worker could not keep or send them.`;
    }
    default:
      return undefined;
  }
}
