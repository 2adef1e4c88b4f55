import { readFileSync } from 'node:fs';
import { problems, type Schema } from './json-schema.ts';

export interface Answer {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

type OrRef<T> = T | { $ref: string };

export interface Operation {
  operationId: string;
  parameters?: OrRef<Parameter>[];
  requestBody?: OrRef<Answer>;
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

type PathItem = Record<string, Operation> & { parameters?: OrRef<Parameter>[] };

export const openapi = load('openapi.json') as { paths: Record<string, PathItem | { $ref: string }> };

/** Follows `file.json#/a/b` to what it names. */
export function resolve<T>(ref: string): T {
  const [file, path] = ref.split('#/') as [string, string];
  const found = path
    .split('/')
    .filter((key) => key !== '')
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
    : problems(schema, body, 'body', resolve);
}

const MEDIA_TYPE = 'application/openjobspec+json';

/** What the file says of the body of an operation's request; undefined when it takes none. */
export function bodyOf({ requestBody }: Operation): Schema | undefined {
  if (requestBody === undefined) return undefined;
  const { content } = '$ref' in requestBody ? resolve<Answer>(requestBody.$ref!) : requestBody;
  return content?.[MEDIA_TYPE]?.schema;
}

/** `POST /ojs/v1/jobs` -> its parameters, those of its path included. */
export function parametersOf(key: string): Parameter[] {
  const [method, path] = key.split(' ') as [string, string];
  const item = pathItems().get(path)!;
  const all = [...(item.parameters ?? []), ...(item[method.toLowerCase()]!.parameters ?? [])];
  return all.map((one) => ('$ref' in one ? resolve<Parameter>(one.$ref) : one));
}
