import { WaybillError } from '@waybill/core';
import type { StandardSchemaV1 } from '@waybill/worker';
import { Ajv, type ErrorObject } from 'ajv';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A Standard Schema with the JSON Schema that the model is shown, for libraries that cannot write one themselves. */
export interface SchemaPair {
  schema: StandardSchemaV1;
  jsonSchema: JsonSchema;
}

export type OutputSchema = JsonSchema | StandardSchemaV1 | SchemaPair;

export type CheckedOutput = { ok: true; value: unknown } | { ok: false; problems: string[] };

/** What an agent must answer: shown to the model, and checked here again. */
export interface OutputContract {
  /** For the model. Without `$schema`, which the CLI refuses for every version but draft 7. */
  readonly jsonSchema: Record<string, unknown>;
  check(output: unknown): Promise<CheckedOutput>;
}

/** More would only fill the prompt. */
const MOST_PROBLEMS = 10;

/** Refuses a schema that the CLI would refuse, where the task is defined. `owner` says whose it is. */
export function outputContract(output: OutputSchema, owner: string): OutputContract {
  const standard = isStandard(output) ? output : isPair(output) ? output.schema : null;
  const given = isStandard(output) ? schemaOf(output, owner) : isPair(output) ? output.jsonSchema : output;
  const { $schema: _, ...jsonSchema } = given as Record<string, unknown>;
  if (jsonSchema['type'] !== 'object')
    throw mistake(owner, "must describe an object: the model answers by calling a tool. Give it type: 'object'.");
  const validate = compiled(jsonSchema, owner);
  const checkJson = (value: unknown): CheckedOutput =>
    validate(value) ? { ok: true, value } : { ok: false, problems: (validate.errors ?? []).map(describe) };
  return {
    jsonSchema,
    check: async (value) => bounded(standard === null ? checkJson(value) : await checkStandard(standard, value)),
  };
}

const mistake = (owner: string, problem: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: 'output' ${problem}`, { details: { field: 'output' } });

/** The CLI compiles the schema with the same library and the same version of JSON Schema. */
function compiled(schema: Record<string, unknown>, owner: string): ReturnType<Ajv['compile']> {
  try {
    return new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema);
  } catch (cause) {
    throw mistake(owner, `is no JSON Schema of draft 7: ${(cause as Error).message}`);
  }
}

const isStandard = (output: OutputSchema): output is StandardSchemaV1 =>
  typeof (output as Partial<StandardSchemaV1>)?.['~standard']?.validate === 'function';

const isPair = (output: OutputSchema): output is SchemaPair =>
  isStandard((output as Partial<SchemaPair>).schema as StandardSchemaV1) && 'jsonSchema' in output;

interface WritesJsonSchema {
  jsonSchema?: { input?(options: { target: string }): JsonSchema };
}

/** By the Standard JSON Schema, which zod, arktype and others have. */
function schemaOf(schema: StandardSchemaV1, owner: string): JsonSchema {
  const { jsonSchema } = schema['~standard'] as WritesJsonSchema;
  if (typeof jsonSchema?.input !== 'function')
    throw mistake(owner, 'cannot be shown to the model as JSON Schema. Give output: { schema, jsonSchema } instead.');
  try {
    return jsonSchema.input({ target: 'draft-07' });
  } catch (cause) {
    throw mistake(owner, `cannot be written as JSON Schema: ${(cause as Error).message}`);
  }
}

async function checkStandard(schema: StandardSchemaV1, value: unknown): Promise<CheckedOutput> {
  const answer = await schema['~standard'].validate(value);
  if (answer.issues === undefined) return { ok: true, value: answer.value };
  const problems = answer.issues.map(({ message, path = [] }) => {
    const steps = path.map((step) => String(typeof step === 'object' ? step.key : step));
    return `${steps.length === 0 ? 'the output' : `'${steps.join('.')}'`}: ${message}`;
  });
  return { ok: false, problems };
}

function describe({ instancePath, message = 'is invalid', params }: ErrorObject): string {
  const where = instancePath === '' ? 'the output' : `'${instancePath.slice(1).replaceAll('/', '.')}'`;
  const extra = (params as { additionalProperty?: string }).additionalProperty;
  return `${where} ${message}${extra === undefined ? '' : `, and has '${extra}'`}`;
}

const bounded = (checked: CheckedOutput): CheckedOutput =>
  checked.ok || checked.problems.length <= MOST_PROBLEMS
    ? checked
    : { ok: false, problems: checked.problems.slice(0, MOST_PROBLEMS) };
