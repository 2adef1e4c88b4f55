import { type Json, WaybillError } from '@waybill/core';
import { toJson } from './jsonified.ts';
import { pathOf, type SchemaIssue, type StandardSchemaV1 } from './standard-schema.ts';

const MAX_ISSUES = 20;

/** Whose value is checked. */
export interface SchemaOwner {
  kind: 'task' | 'signal';
  name: string;
  schema: StandardSchemaV1 | undefined;
  /** What the value is to it. */
  what: 'input' | 'data';
}

const TITLE = { task: 'Task', signal: 'Signal' } as const;

/** The value as it will arrive. */
export function plainJson({ kind, name }: SchemaOwner, value: unknown, root: string): Json {
  const answer = toJson(value);
  if (answer.ok) return answer.value;
  throw new WaybillError('validation_error', `'${root}' of ${kind} '${name}' is not JSON: ${answer.problem}.`, {
    details: { [kind]: name, field: root },
  });
}

export async function checkBySchema({ kind, name, schema, what }: SchemaOwner, value: unknown, root: string) {
  if (schema === undefined) return;
  const { issues } = await schema['~standard'].validate(value);
  if (issues === undefined) return;
  const message = `${TITLE[kind]} '${name}' refuses its ${what}: ${describe(issues, root)}`;
  throw new WaybillError('validation_error', message, {
    details: {
      [kind]: name,
      field: pathOf(issues[0]!, root),
      issues: issues.slice(0, MAX_ISSUES).map((issue) => ({ path: pathOf(issue, root), message: issue.message })),
    },
  });
}

/** The first few problems in one line, each with its path. */
export function describe(issues: readonly SchemaIssue[], root: string): string {
  const told = issues.slice(0, 3).map((issue) => `'${pathOf(issue, root)}' ${issue.message}`);
  return issues.length > told.length ? `${told.join('; ')}; and ${issues.length - told.length} more` : told.join('; ');
}
