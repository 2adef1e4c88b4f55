import { WaybillError } from '@waybill/core';
import type { StandardSchemaV1 } from './standard-schema.ts';

interface PolicyValues {
  priority?: number | undefined;
  timeout?: number | undefined;
}

const refuse = (owner: string, name: string, rule: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${name}' must be ${rule}.`, { details: { field: name } });

const shown = (value: unknown): string => (typeof value === 'string' ? `'${value.slice(0, 100)}'` : String(value));

/** What every job of a task would be refused for is refused where the task is defined. */
export function checkPolicyValues(owner: string, { priority, timeout }: PolicyValues): void {
  if (priority !== undefined && !(Number.isSafeInteger(priority) && Math.abs(priority) <= 100))
    throw refuse(owner, 'priority', `an integer from -100 to 100, not ${shown(priority)}`);
  if (timeout !== undefined && !(Number.isSafeInteger(timeout) && timeout > 0))
    throw refuse(owner, 'timeout', `whole milliseconds above 0, not ${shown(timeout)}`);
}

/** Some libraries make schemas that are functions. */
export function checkSchema(owner: string, schema: StandardSchemaV1 | undefined): void {
  if (schema === undefined || typeof schema?.['~standard']?.validate === 'function') return;
  throw refuse(owner, 'input', 'a Standard Schema, such as one of zod, valibot or arktype');
}

/** A moment as text. A Date that is none has no text, and a number is no Date. */
export function momentText(name: string, moment: Date): string {
  if (moment instanceof Date && !Number.isNaN(moment.getTime())) return moment.toISOString();
  const found = moment instanceof Date ? 'an invalid one' : shown(moment);
  throw refuse('enqueue()', name, `a Date${name === 'delay' ? ' or milliseconds from 0 on' : ''}, not ${found}`);
}
