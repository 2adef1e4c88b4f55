import { toRfc3339 } from '@waybill/client';
import { jsonOf, msOf } from '@waybill/client/rpc';
import { invalidField, isObject, type Json, type JsonObject, type Outcome, type SettleCall } from '@waybill/core';
import type { CompleteJobRequest, JobResult } from '@waybill/protocol';
import { errorFromRpc, outcomeFromRpc } from './outcome-codec.ts';
import { readTaskToken } from './task-token.ts';

/** Code of the error of a run that reports none. */
const PROCESS_FAILED = 'process_failed';

export function settleCallOf({ taskToken, result }: CompleteJobRequest): SettleCall {
  const { jobId, queue, leaseToken } = readTaskToken(taskToken);
  if (!result) throw invalidField('result', 'is required: report the outcome of the run.');
  if (result.jobId !== '' && result.jobId !== jobId)
    throw invalidField('result.job_id', 'is not the job that the token is for.');
  return { id: jobId, queue, leaseToken, outcome: outcomeOf(result) };
}

function outcomeOf(result: JobResult): Outcome {
  const { success, exitCode, errorMessage, value, error, outcome } = result;
  if (outcome) {
    const stray = [success && 'success', exitCode !== 0 && 'exit_code', errorMessage && 'error_message'].find(Boolean);
    const other = stray || (value && 'value') || (error && 'error');
    if (other) throw invalidField(`result.${other}`, `does not go with 'outcome'.`);
    return outcomeFromRpc(outcome, 'result.outcome');
  }
  // A worker that calls a process with an exit code other than 0 a success has not looked at it.
  if (success && exitCode === 0) {
    if (errorMessage !== '' || error)
      throw invalidField(`result.${error ? 'error' : 'error_message'}`, 'does not go with success.');
    return { kind: 'completed', result: value ? jsonOf(value, 'result.value') : factsOf(result) };
  }
  if (value) throw invalidField('result.value', 'is for success alone.');
  return { kind: 'failed', error: failureOf(result) };
}

function failureOf(result: JobResult) {
  const { exitCode, errorMessage, error } = result;
  const given = errorFromRpc(error, 'result.error');
  const message =
    errorMessage || given.message || (exitCode === 0 ? '' : `The process has ended with the exit code ${exitCode}.`);
  return {
    ...given,
    ...(!error?.code && { code: PROCESS_FAILED }),
    message,
    ...detailsOf(given.details, factsOf(result)),
  };
}

/** What is known of the process, beside what the worker has reported; where that is no object, it stands under `details`. */
function detailsOf(given: Json | undefined, facts: JsonObject | null): { details?: Json } {
  if (facts === null) return given === undefined ? {} : { details: given };
  if (given === undefined) return { details: facts };
  return { details: isObject(given) ? { ...facts, ...given } : { ...facts, details: given } };
}

function factsOf({ exitCode, startedAt, completedAt }: JobResult): JsonObject | null {
  if (exitCode === 0 && !startedAt && !completedAt) return null;
  return {
    exit_code: exitCode,
    ...(startedAt && { started_at: toRfc3339(msOf(startedAt, 'result.started_at')) }),
    ...(completedAt && { completed_at: toRfc3339(msOf(completedAt, 'result.completed_at')) }),
  };
}
