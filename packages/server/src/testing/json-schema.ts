/** As much of JSON Schema as our OpenAPI files use. */
export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  not?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  minProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
}

/** Follows a reference to what it names. */
export type Resolve = <T>(ref: string) => T;

/** What is wrong with a value, as lines that name the place; none when it is as the schema says. */
export function problems(schema: Schema, value: unknown, at: string, resolve: Resolve): string[] {
  const inner = (one: Schema, of: unknown = value, where = at) => problems(one, of, where, resolve);
  const fits = (one: Schema): boolean => inner(one).length === 0;
  const found = schema.$ref === undefined ? [] : inner(resolve<Schema>(schema.$ref));
  for (const part of schema.allOf ?? []) found.push(...inner(part));
  const count = schema.oneOf?.filter(fits).length ?? 1;
  if (count !== 1) found.push(`${at} fits ${count} of oneOf`);
  if (schema.anyOf && !schema.anyOf.some(fits)) found.push(`${at} fits none of anyOf`);
  if (schema.not && fits(schema.not)) found.push(`${at} is what it must not be`);
  if ('const' in schema && value !== schema.const) found.push(`${at} is not ${String(schema.const)}`);
  if (schema.enum && !schema.enum.includes(value)) found.push(`${at} is ${String(value)}, not one of the enum`);
  if (schema.type !== undefined && typeOf(value, schema.type) !== schema.type)
    return [...found, `${at} is no ${schema.type}`];
  if (typeof value === 'string') return [...found, ...textProblems(schema, value, at)];
  if (typeof value === 'number') return [...found, ...numberProblems(schema, value, at)];
  if (Array.isArray(value)) {
    const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
    if (value.length < minItems || value.length > maxItems) return [...found, `${at} has ${value.length} items`];
    return [...found, ...value.flatMap((item, index) => inner(items, item, `${at}[${index}]`))];
  }
  if (typeof value !== 'object' || value === null) return found;
  return [...found, ...objectProblems(schema, value as Record<string, unknown>, at, inner)];
}

function textProblems(schema: Schema, value: string, at: string): string[] {
  const { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const length = [...value].length;
  if (length < minLength || length > maxLength) return [`${at} has ${length} characters`];
  if (format === 'date-time' && !isTime(value)) return [`${at} is no time`];
  return pattern !== undefined && !new RegExp(pattern, 'u').test(value) ? [`${at} does not match ${pattern}`] : [];
}

/** Also refuses days that no month has, which the parser would take for the next month's. */
function isTime(text: string): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.exec(text);
  if (!match || Number.isNaN(Date.parse(text))) return false;
  const day = new Date(`${match[1]}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(match[1]!);
}

function numberProblems({ minimum = -Infinity, maximum = Infinity }: Schema, value: number, at: string): string[] {
  return value < minimum || value > maximum ? [`${at} is out of bounds`] : [];
}

type Inner = (schema: Schema, of: unknown, where: string) => string[];

function objectProblems(schema: Schema, value: Record<string, unknown>, at: string, inner: Inner): string[] {
  const missing = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, item]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties ?? {};
    if (known === false) return [`${at}.${name} is not known`];
    return known === true ? [] : inner(known, item, `${at}.${name}`);
  });
  if (Object.keys(value).length < (schema.minProperties ?? 0)) missing.push(`${at} is empty`);
  return [...missing, ...wrong];
}

function typeOf(value: unknown, wanted: string): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return wanted === 'integer' && Number.isInteger(value) ? 'integer' : typeof value;
}
