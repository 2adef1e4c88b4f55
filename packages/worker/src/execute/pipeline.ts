import type { AskCall, ErrorInput, Lease, Outcome } from '@waybill/core';
import { describe } from '../checked-json.ts';
import { pathOf } from '../standard-schema.ts';
import { type AnyTask, inputOf } from '../task.ts';
import { failureOf } from './failure.ts';
import { outcomeOfAborted } from './outcome.ts';

/** One value travels through every stage: claimed -> validated -> run -> outcome -> settled. */
export interface Claimed {
  readonly lease: Lease;
  /** Told when the run must end; absent where nothing can end it. */
  onAbort?(tell: () => void): void;
  readonly reason?: unknown;
}

export interface Validated {
  stage: 'validated';
  lease: Lease;
  task: AnyTask;
  input: unknown;
}

export interface Ended {
  stage: 'ended';
  lease: Lease;
  /** Null: the lease is lost, so there is nobody to tell. */
  outcome: Outcome | null;
  /** The handler has settled it already, in a transaction that it seems to have committed. */
  isSettled?: boolean;
  /** The question that the run has ended for: asked again when it is settled, the job sleeps until the answer comes. */
  waitsFor?: AskCall;
  /** What the handler threw, for those who run it in a test. */
  thrown?: unknown;
}

/** What each stage does. Made once for all runs, so each is told which one it is about. */
export interface Stages<Run extends Claimed, Settled> {
  tasks: ReadonlyMap<string, AnyTask>;
  /** A job whose task this worker does not have: why it is handed back. */
  onUnknown(run: Run): ErrorInput;
  run(validated: Validated, run: Run): Promise<Ended>;
  settle(ended: Ended, run: Run): Promise<Settled>;
}

const MAX_ISSUES = 20;

export async function execute<Run extends Claimed, Settled>(run: Run, stages: Stages<Run, Settled>): Promise<Settled> {
  const { lease } = run;
  const task = stages.tasks.get(lease.job.type);
  // Another worker may know the task; by the next time it may also have been deployed here.
  if (task === undefined) return stages.settle(end(lease, { kind: 'snoozed', error: stages.onUnknown(run) }), run);
  const input = inputOf(lease.job);
  // Waiting for what needs no wait would cost every run of a task without a schema.
  const validated: Validated | Ended =
    task.schema === undefined ? { stage: 'validated', lease, task, input } : await validate(run, task, input);
  const ended = validated.stage === 'ended' ? validated : await stages.run(validated, run);
  // Waited for here: to return the promise itself would take two more turns and another job for the engine.
  return await stages.settle(ended, run);
}

const ABORTED = Symbol('aborted');

const untilAborted = (run: Claimed): Promise<typeof ABORTED> =>
  new Promise((resolve) => run.onAbort?.(() => resolve(ABORTED)));

const end = (lease: Lease, outcome: Outcome): Ended => ({ stage: 'ended', lease, outcome });

async function validate(run: Claimed, task: AnyTask, input: unknown): Promise<Validated | Ended> {
  const { lease } = run;
  try {
    const checked = task.schema!['~standard'].validate(input);
    // A schema that asks others may never be answered; the run must end all the same.
    const answer = checked instanceof Promise ? await Promise.race([checked, untilAborted(run)]) : checked;
    if (answer === ABORTED) return { stage: 'ended', lease, outcome: outcomeOfAborted(run.reason, null) };
    if (answer.issues === undefined) return { stage: 'validated', lease, task, input: answer.value };
    return end(lease, refused(task, answer.issues));
  } catch (error) {
    return { ...end(lease, { kind: 'failed', error: failureOf(error) }), thrown: error };
  }
}

/** The same input would be refused again, so it is not retried but kept for repair. */
function refused(task: AnyTask, issues: Parameters<typeof describe>[0]): Outcome {
  const message = `Task '${task.name}' refuses its input: ${describe(issues, 'input')}`;
  const told = issues.slice(0, MAX_ISSUES).map((issue) => ({ path: pathOf(issue, 'input'), message: issue.message }));
  const error = { code: 'invalid_payload', type: 'invalid_payload', message, details: { issues: told } };
  return { kind: 'discarded', error, deadLetter: true };
}
