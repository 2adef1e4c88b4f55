import type { Lease, Outcome } from '@waybill/core';
import { describe } from '../request.ts';
import { pathOf } from '../standard-schema.ts';
import { type AnyTask, inputOf } from '../task.ts';
import { failureOf } from './failure.ts';

/** One value travels through every stage: claimed -> validated -> run -> outcome -> settled. */
export interface Claimed {
  stage: 'claimed';
  lease: Lease;
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
  /** What the handler threw, for those who run it in a test. */
  thrown?: unknown;
}

export interface Stages<Settled> {
  tasks: ReadonlyMap<string, AnyTask>;
  /** The server's time. */
  now(): number;
  /** A job whose task this worker does not have. */
  onUnknown(lease: Lease): void;
  run(validated: Validated): Promise<Ended>;
  settle(ended: Ended): Promise<Settled>;
}

/** Another worker may know the task; by then it may also have been deployed here. */
export const UNKNOWN_TASK_SNOOZE_MS = 5_000;
const MAX_ISSUES = 20;

export async function execute<Settled>(lease: Lease, stages: Stages<Settled>): Promise<Settled> {
  const validated = await validate({ stage: 'claimed', lease }, stages);
  const ended = validated.stage === 'ended' ? validated : await stages.run(validated);
  return stages.settle(ended);
}

async function validate({ lease }: Claimed, stages: Stages<unknown>): Promise<Validated | Ended> {
  const end = (outcome: Outcome): Ended => ({ stage: 'ended', lease, outcome });
  const task = stages.tasks.get(lease.job.type);
  if (task === undefined) {
    stages.onUnknown(lease);
    return end({ kind: 'snoozed', until: stages.now() + UNKNOWN_TASK_SNOOZE_MS });
  }
  const input = inputOf(lease.job);
  if (task.schema === undefined) return { stage: 'validated', lease, task, input };
  try {
    const answer = await task.schema['~standard'].validate(input);
    if (answer.issues === undefined) return { stage: 'validated', lease, task, input: answer.value };
    return end(refused(task, answer.issues));
  } catch (error) {
    return { ...end({ kind: 'failed', error: failureOf(error) }), thrown: error };
  }
}

/** The same input would be refused again, so it is not retried but kept for repair. */
function refused(task: AnyTask, issues: Parameters<typeof describe>[0]): Outcome {
  const message = `Task '${task.name}' refuses its input: ${describe(issues, 'input')}`;
  const told = issues.slice(0, MAX_ISSUES).map((issue) => ({ path: pathOf(issue, 'input'), message: issue.message }));
  const error = { code: 'invalid_payload', type: 'invalid_payload', message, details: { issues: told } };
  return { kind: 'discarded', error, deadLetter: true };
}
