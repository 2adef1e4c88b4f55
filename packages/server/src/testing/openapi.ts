import { readFileSync } from 'node:fs';

/** As much of JSON Schema as our OpenAPI files use. */
interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  oneOf?: Schema[];
  allOf?: Schema[];
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
}

interface Answer {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}

export interface Operation {
  operationId: string;
  responses: Record<string, Answer>;
}

const files = new Map<string, unknown>();

function load(file: string): unknown {
  const known = files.get(file);
  if (known !== undefined) return known;
  const loaded: unknown = JSON.parse(readFileSync(new URL(`../openapi/${file}`, import.meta.url), 'utf8'));
  files.set(file, loaded);
  return loaded;
}

type PathItem = Record<string, Operation> & { parameters?: { $ref?: string }[] };

export const openapi = load('openapi.json') as { paths: Record<string, PathItem | { $ref: string }> };

/** Follows `file.json#/a/b` to what it names. */
export function resolve<T>(ref: string): T {
  const [file, path] = ref.split('#/') as [string, string];
  const found = path
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], load(file));
  if (found === undefined) throw new Error(`Nothing is at ${ref}.`);
  return found as T;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export const pathItems = (): Map<string, PathItem> =>
  new Map(
    Object.entries(openapi.paths).map(([path, given]) => {
      const { $ref } = given as { $ref?: string };
      return [path, $ref === undefined ? (given as PathItem) : resolve<PathItem>($ref)];
    }),
  );

/** `GET /ojs/v1/jobs/{id}` -> its operation. */
export function operations(): Map<string, Operation> {
  const found = [...pathItems()].flatMap(([path, item]) => {
    return METHODS.filter((method) => item[method]).map(
      (method) => [`${method.toUpperCase()} ${path}`, item[method]!] as const,
    );
  });
  return new Map(found);
}

/** Finds the operation of a real request; literal paths go before patterns. */
export function operationFor(method: string, path: string): Operation | undefined {
  const all = operations();
  const exact = all.get(`${method} ${path}`);
  if (exact) return exact;
  const pattern = [...all.keys()].find((key) =>
    new RegExp(`^${key.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(`${method} ${path}`),
  );
  return pattern === undefined ? undefined : all.get(pattern);
}

/** What is wrong with an answer, as lines that name the place; none when it is as the file says. */
export function problemsOf(operation: Operation, status: number, mediaType: string, body: unknown): string[] {
  const found = operation.responses[String(status)] ?? (status >= 400 ? operation.responses['default'] : undefined);
  if (found === undefined) return [`${operation.operationId} has no answer with status ${status}`];
  const { content } = found.$ref === undefined ? found : resolve<Answer>(found.$ref);
  const schema = content?.[mediaType]?.schema;
  return schema === undefined
    ? [`${operation.operationId} does not answer ${mediaType}`]
    : problems(schema, body, 'body');
}

function problems(schema: Schema, value: unknown, at: string): string[] {
  if (schema.$ref !== undefined) return problems(resolve(schema.$ref), value, at);
  if (schema.oneOf) {
    const fits = schema.oneOf.filter((option) => problems(option, value, at).length === 0).length;
    return fits === 1 ? [] : [`${at} fits ${fits} of oneOf`];
  }
  if (schema.allOf) return schema.allOf.flatMap((part) => problems(part, value, at));
  if ('const' in schema && value !== schema.const) return [`${at} is not ${String(schema.const)}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${String(value)}, not one of the enum`];
  if (schema.type !== undefined && typeOf(value, schema.type) !== schema.type) return [`${at} is no ${schema.type}`];
  if (typeof value === 'string') return textProblems(schema, value, at);
  if (Array.isArray(value))
    return value.flatMap((item, index) => problems(schema.items ?? {}, item, `${at}[${index}]`));
  return typeof value === 'object' && value !== null
    ? objectProblems(schema, value as Record<string, unknown>, at)
    : [];
}

function textProblems({ pattern, minLength = 0 }: Schema, value: string, at: string): string[] {
  if (value.length < minLength) return [`${at} is too short`];
  return pattern !== undefined && !new RegExp(pattern).test(value) ? [`${at} does not match ${pattern}`] : [];
}

function objectProblems(schema: Schema, value: Record<string, unknown>, at: string): string[] {
  const missing = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, item]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties ?? {};
    if (known === false) return [`${at}.${name} is not known`];
    return known === true ? [] : problems(known, item, `${at}.${name}`);
  });
  return [...missing, ...wrong];
}

function typeOf(value: unknown, wanted: string): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return wanted === 'integer' && Number.isInteger(value) ? 'integer' : typeof value;
}
