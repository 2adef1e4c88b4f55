import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject, WaybillError, withoutSecrets } from '@waybill/core';
import { parseJson, parseYaml } from './parse-document.ts';

/** No configuration is as large; a file that is was named by mistake. */
const MOST_BYTES = 1_048_576;

/** What the file says, unchecked. No error quotes the file, because it may hold secrets. */
export async function readConfig(file: string): Promise<Record<string, unknown>> {
  const name = path.basename(file);
  const document = await documentIn(file, name);
  // A file in which everything is a comment.
  if (document === null || document === undefined) return {};
  if (isObject(document)) return document;
  const found = Array.isArray(document) ? 'a list' : `a value of type ${typeof document}`;
  throw refused(`${name} must hold an object with keys such as store and server, not ${found}.`);
}

async function documentIn(file: string, name: string): Promise<unknown> {
  switch (path.extname(file).toLowerCase()) {
    case '.yaml':
    case '.yml':
      return parseYaml(await textIn(file, name), name, refused).then(({ value }) => value);
    case '.json':
      return parseJson(await textIn(file, name), name, refused);
    case '.ts':
    case '.mts':
      if (!canReadTypeScript())
        throw refused(
          `${name} is TypeScript, which Node.js ${process.versions.node} cannot read.`,
          'Use Node.js 22.18 or newer, or write the file as YAML, JSON or JavaScript.',
        );
      return exportedBy(file, name);
    case '.js':
    case '.mjs':
      return exportedBy(file, name);
    default:
      throw refused(
        `The configuration file ${name} has an unknown ending.`,
        'Use .yaml, .yml, .ts, .mjs, .js or .json.',
      );
  }
}

/** Newer versions of Node.js leave out the types by themselves. */
const canReadTypeScript = (): boolean =>
  Boolean((process.features as { typescript?: false | 'strip' | 'transform' }).typescript);

async function textIn(file: string, name: string): Promise<string> {
  const source = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw refused(`Could not read ${name}: ${cause.code ?? 'unknown error'}.`);
  });
  if (source.length > MOST_BYTES) throw refused(`${name} is larger than 1 MiB, so it cannot be a configuration file.`);
  return source;
}

/** The default export: an object, or a function that answers one. */
async function exportedBy(file: string, name: string): Promise<unknown> {
  const hint = 'Write `export default { store: .. }`, or a function without parameters that answers such an object.';
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { default?: unknown };
    const given = loaded.default;
    if (typeof given === 'function' && given.length > 0)
      throw refused(`The default export of ${name} is a function with parameters.`, hint);
    const answered: unknown = typeof given === 'function' ? await given() : given;
    if (answered === undefined || answered === null) throw refused(`${name} has no default export.`, hint);
    return answered;
  } catch (cause) {
    if (cause instanceof WaybillError) throw cause;
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw refused(`${name} cannot be loaded: ${withoutSecrets(why).replaceAll(/\p{Cc}+/gu, ' ')}`, hint);
  }
}

const refused = (message: string, hint = 'docs/configuration.md describes the file.'): WaybillError =>
  new WaybillError('invalid_request', message, { hint });
