/**
 * The part of Standard Schema (standardschema.dev) that we use, written out so that nobody installs a package for it.
 * zod, valibot, arktype and others fit as they are.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<Schema extends StandardSchemaV1> = NonNullable<Schema['~standard']['types']>['input'];
export type OutputOf<Schema extends StandardSchemaV1> = NonNullable<Schema['~standard']['types']>['output'];

/** `input.user.tags[2]`: what a person would write to reach the value. */
export function pathOf(issue: SchemaIssue, root: string): string {
  return (issue.path ?? []).reduce<string>((path, step) => {
    const key = typeof step === 'object' ? step.key : step;
    return typeof key === 'number' ? `${path}[${key}]` : `${path}.${String(key)}`;
  }, root);
}
