import type { Json, JsonObject } from '../json.ts';
import { evolve, type Transition } from './evolve.ts';
import type { Job } from './job.ts';
import type { Revision } from './node-rules.ts';
import { boundedMoment } from './rank.ts';
import { errorOf, giveUp, isPast } from './settle.ts';

/** Rounds of a reviewed node, the first one included. */
export const MAX_ITERATIONS = 5;

/** Characters of the feedback of a revision, and of the comment of an approval. */
export const MAX_FEEDBACK = 5_000;

/** Of the feedback an event tells so many characters; the row of the iteration has all of it. */
const MAX_TOLD = 500;

/** What decides about a gate from outside. `iteration`: only if this one is in review. */
export type GateCommand =
  /** Its turn has come: from now on it waits. */
  | { do: 'open' }
  | { do: 'signal'; data: Json; by?: string }
  | { do: 'approve'; iteration?: number; by?: string; comment?: string }
  | { do: 'revise'; iteration?: number; feedback: string; by?: string };

/**
 * What a gate was told while it is pending. Its row keeps it in place of a result, and it stays there while the node is
 * failed or cancelled, so that a resumed workflow knows it.
 */
type SignalState = { data: Json };
type ReviewState = Partial<Revision> & { iteration: number; isApproved?: true };

/** A node that no worker gets: it ends by what comes from outside. */
export const isGate = ({ spec: { rules } }: Pick<Job, 'spec'>): boolean =>
  rules?.signal !== undefined || rules?.review !== undefined;

/** The data of the signal, once it has come. */
export const signalOf = ({ state, result }: Pick<Job, 'state' | 'result'>): SignalState | null =>
  state === 'completed' ? { data: result } : (result as SignalState | null);

/** Of a gate that has not completed: then its result is what was approved. */
export const reviewOf = ({ result }: Pick<Job, 'result'>): ReviewState => (result as ReviewState) ?? { iteration: 1 };

/** Whether it waits for what comes from outside, and for nothing else. */
export const isOpen = (job: Job, now: number): boolean =>
  job.state === 'pending' && job.startedAt !== null && !isPast(job.timeoutAt, now) && !isDecided(job);

const isDecided = (job: Job): boolean =>
  job.spec.rules?.review ? reviewOf(job).isApproved === true : job.result !== null;

export function gate(job: Job, command: GateCommand, now: number): Transition | null {
  if (job.state !== 'pending' || !isGate(job)) return null;
  switch (command.do) {
    case 'open':
      return job.startedAt === null ? open(job, now) : null;
    case 'signal':
      return receive(job, command, now);
    case 'approve':
      return isInReview(job, command, now) ? approve(job, command, now) : null;
    case 'revise':
      return isInReview(job, command, now) ? revise(job, command, now) : null;
  }
}

/** `startedAt` is when it began to wait, `timeoutAt` when it gives up. */
function open(job: Job, now: number): Transition {
  const { signal, review } = job.spec.rules!;
  const { timeoutMs } = (signal ?? review)!;
  const timeoutAt = timeoutMs === undefined ? null : boundedMoment(now + timeoutMs, now);
  const until: JsonObject = timeoutAt === null ? {} : { timeout_at: new Date(timeoutAt).toISOString() };
  const patch = { startedAt: now, timeoutAt };
  if (signal) return evolve(job, patch, [['job.waiting', { ...signalFacts(job), ...until }]], now);
  return evolve(job, patch, [['job.in_review', { ...reviewFacts(job), ...until }]], now);
}

/** Also before its turn: then it is kept until the nodes before have ended. The engine looks at the row again. */
function receive(job: Job, { data, by }: Extract<GateCommand, { do: 'signal' }>, now: number): Transition | null {
  if (!job.spec.rules?.signal || isDecided(job) || isPast(job.timeoutAt, now)) return null;
  const told = { ...signalFacts(job), ...(by !== undefined && { sent_by: by }) };
  return evolve(job, { ...DECIDED, result: { data } }, [['job.signalled', told]], now);
}

const isInReview = (job: Job, { iteration }: { iteration?: number }, now: number): boolean =>
  job.spec.rules?.review !== undefined &&
  isOpen(job, now) &&
  (iteration === undefined || iteration === reviewOf(job).iteration);

function approve(job: Job, { by, comment }: Extract<GateCommand, { do: 'approve' }>, now: number): Transition {
  const told = {
    ...(by !== undefined && { approved_by: by }),
    ...(comment !== undefined && { comment: cut(comment) }),
  };
  const result = { iteration: reviewOf(job).iteration, isApproved: true };
  return evolve(job, { ...DECIDED, result }, [['job.approved', { ...reviewFacts(job), ...told }]], now);
}

/** The row of the next iteration is made by the engine when it looks at this one. */
function revise(job: Job, { feedback, by }: Extract<GateCommand, { do: 'revise' }>, now: number): Transition | null {
  const { iteration } = reviewOf(job);
  if (iteration >= MAX_ITERATIONS) return null;
  const told = { ...reviewFacts(job), feedback: cut(feedback), ...(by !== undefined && { requested_by: by }) };
  const result = { iteration: iteration + 1, feedback, by: by ?? null };
  const patch = { ...DECIDED, result, startedAt: null };
  return evolve(job, patch, [['job.revision_requested', told]], now);
}

const DECIDED = { timeoutAt: null, advancePending: true } as const;

/** All that a reader of the log needs to decide. */
const signalFacts = ({ workflowId, node }: Job): JsonObject => ({ workflow_id: workflowId, signal: node });
const reviewFacts = (job: Job): JsonObject => ({
  ...{ workflow_id: job.workflowId, node: job.node },
  iteration: reviewOf(job).iteration,
});

const cut = (text: string): string => (text.length <= MAX_TOLD ? text : `${text.slice(0, MAX_TOLD - 1)}…`);

/** Nothing has come in time: the node fails. */
export function timeOutGate(job: Job, now: number): Transition {
  const { signal, review } = job.spec.rules!;
  const { timeoutMs } = (signal ?? review)!;
  const error = signal
    ? { code: 'signal_timeout', message: `The signal '${job.node}' did not come within ${timeoutMs} ms.` }
    : { code: 'review_timeout', message: `No review of '${job.node}' came within ${timeoutMs} ms.` };
  return giveUp(job, 'timed_out', errorOf(job, { ...error, retryable: false }, now), false, now);
}
