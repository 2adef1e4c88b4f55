import { checkNames, type Json, WaybillError } from '@waybill/core';
import { checkBySchema, plainJson } from './checked-json.ts';
import { checkSchema } from './policy-values.ts';
import type { InputOf, StandardSchemaV1 } from './standard-schema.ts';
import type { TypedTask } from './typed-task.ts';

/** What comes to a workflow from outside. Its data is what the node of its name comes to. */
export interface Signal<Data = unknown> extends TypedTask<Data, Data> {
  readonly kind: 'signal';
  readonly schema: StandardSchemaV1 | undefined;
}

export type SignalData<S> = S extends Signal<infer Data> ? Data : never;

/** Defines a signal. With a schema its data is checked when it is sent. */
export function signal<Schema extends StandardSchemaV1>(
  name: string,
  options: { data: Schema },
): Signal<InputOf<Schema>>;
export function signal<Data = Json>(name: string, options?: { data?: undefined }): Signal<Data>;
export function signal(name: string, options: { data?: StandardSchemaV1 | undefined } = {}): Signal {
  const owner = `signal('${String(name).slice(0, 100)}')`;
  if (typeof name !== 'string' || name === '')
    throw new WaybillError('invalid_request', "A signal needs a name, such as signal('order.paid').");
  checkNames(owner, options, ['data']);
  checkSchema(owner, options.data);
  return Object.freeze({ kind: 'signal', name, schema: options.data });
}

export const isSignal = (given: unknown): given is Signal =>
  typeof given === 'object' && given !== null && (given as { kind?: unknown }).kind === 'signal';

/** The data of a signal as it is sent. */
export async function dataFor({ name, schema }: Signal, data: unknown): Promise<Json> {
  const of = { kind: 'signal', name, schema, what: 'data' } as const;
  const json = data === undefined ? null : plainJson(of, data, 'data');
  await checkBySchema(of, json, 'data');
  return json;
}
