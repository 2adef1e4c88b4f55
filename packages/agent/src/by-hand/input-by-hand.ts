import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Json, WaybillError } from '@waybill/core';

export interface InputPlaces {
  /** JSON, as of the command line. */
  argument?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

const USUAL = 'inputs/input.json';

/** The input of a run by hand: the argument, else the file that INPUT_FILE names, else `inputs/input.json`, else none. */
export async function inputByHand({ argument, env, cwd }: InputPlaces): Promise<Json | undefined> {
  if (argument !== undefined) return parsed(argument, 'The argument');
  const { INPUT_FILE: named } = env;
  if (named) return parsed(await readFile(resolve(cwd, named), 'utf8').catch(refuse(named)), `INPUT_FILE '${named}'`);
  const text = await readFile(join(cwd, USUAL), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parsed(text, USUAL);
}

function parsed(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw new WaybillError('invalid_request', `${what} is no JSON: ${(error as Error).message}`, {
      hint: `Give a JSON document, such as '{"folder":"src"}'. This was given: ${shown}`,
    });
  }
}

const refuse =
  (file: string) =>
  (cause: Error): never => {
    throw new WaybillError('invalid_request', `INPUT_FILE names '${file}', which cannot be read: ${cause.message}`);
  };
