import { readFileSync } from 'node:fs';
import { WaybillError } from '@waybill/core';
import { dev } from './dev.ts';
import { HELP } from './help.ts';
import { serve } from './serve.ts';

const COMMANDS: Record<string, (args: readonly string[]) => Promise<void>> = { serve, dev };

export async function main(args: readonly string[]): Promise<void> {
  try {
    await run(args);
  } catch (error) {
    process.exitCode = report(error);
  }
}

async function run([name, ...rest]: readonly string[]): Promise<void> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help' || rest.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${version()}\n`);
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    throw new WaybillError('invalid_request', `There is no command '${name}'.`, { hint: 'waybill --help lists them.' });
  }
  await command(rest);
}

export function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Says what is wrong and what to do, without a stack; the exit code tells misuse from failure. */
function report(reason: unknown): number {
  const error = reason instanceof WaybillError ? reason : undefined;
  const message = error?.message ?? (reason instanceof Error ? reason.message : String(reason));
  process.stderr.write(`waybill: ${message}\n${error?.hint ? `  ${error.hint}\n` : ''}`);
  return error?.code === 'invalid_request' ? 2 : 1;
}
