import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { WaybillError } from '@waybill/core';
import { shownWord } from '../connect/shown-address.ts';
import type { Io } from './io.ts';

export const ENV_FILE_OPTION = {
  'env-file': { value: 'FILE', about: 'variables in lines of NAME=value; the environment beats them', default: 'none' },
} as const;

/**
 * The environment with the variables of a file behind it, as `process.loadEnvFile` has it. This process gets them too, because
 * the AWS SDK and the processes of runs read its environment.
 */
export function withEnvFile(named: string | undefined, io: Io): Io {
  if (named === undefined) return io;
  const read = parseEnv(textOf(named)) as Record<string, string>;
  for (const [name, value] of Object.entries(read)) process.env[name] ??= value;
  return { ...io, env: { ...read, ...io.env } };
}

function textOf(named: string): string {
  try {
    return readFileSync(path.resolve(named), 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown'})`;
    throw new WaybillError('invalid_request', `--env-file ${shownWord(named)}: ${why}.`, {
      hint: 'A path counts from the folder in which the command runs.',
      cause,
    });
  }
}
