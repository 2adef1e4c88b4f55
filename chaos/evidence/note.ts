import type { ErrorCode, Job, OutcomeKind } from '@waybill/core';

/** A line of a journal, as an actor writes it. All times are of the one clock of this machine. */
export type Line =
  /** A producer is about to ask for jobs or for a workflow. The label is in the args of whatever comes of it. */
  | { kind: 'asked'; call: string; for: 'job' | 'workflow'; key?: string; at: number }
  /** It was answered for. Of a call that was repeated there may be several. */
  | { kind: 'answered'; call: string; for: 'job' | 'workflow'; ids: string[]; at: number }
  | { kind: 'refused'; call: string; code: Refusal; at: number }
  | { kind: 'cancelled'; id: string; state: Job['state']; at: number }
  /** A handler has begun, with the jobs whose results it was given. */
  | { kind: 'start'; id: string; run: number; parents: string[]; at: number }
  /** A handler came to its end; what it came to is settled afterwards. */
  | { kind: 'end'; id: string; run: number; at: number }
  /** How a settle was answered. `again`: it had been answered before, and was made once more on purpose. */
  | {
      kind: 'settled';
      id: string;
      run: number;
      outcome: OutcomeKind;
      answer: 'ok' | Refusal;
      again: boolean;
      at: number;
    }
  /** A claim was made a second time under its id. `extra`: jobs that the first answer did not have. */
  | { kind: 'claimed-again'; claim: string; extra: string[]; at: number };

/** What is no refusal of ours is a broken connection. */
export type Refusal = ErrorCode | 'unknown';

/** A line, and the life of the process that wrote it: `worker-1#2` is the second one under this name. */
export type Note = Line & { by: string };

/** Names one life of an actor. */
export const lifeOf = (actor: string, count: number): string => `${actor}#${count}`;

export const actorOf = (life: string): string => life.slice(0, life.indexOf('#'));
