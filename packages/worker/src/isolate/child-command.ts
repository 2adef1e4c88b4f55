import { fileURLToPath } from 'node:url';
import { WaybillError } from '@waybill/core';

/** How this module's name ends while it is a file beside `child`. A build has the child as text, which loads faster. */
const ENDING = /\/isolate\/child-command(\.ts|\.js)$/.exec(String(import.meta.url))?.[1];

/** Flags of this process that decide how modules are loaded; a user who needs them here needs them there. */
const LOADING =
  /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C|--experimental-strip-types|--experimental-transform-types|--enable-source-maps|--preserve-symlinks)(=|$)/;
const WITH_VALUE = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)$/;

/** Node, with the program that loads a module and runs its handler. */
export async function childCommand(): Promise<readonly [string, ...string[]]> {
  return [process.execPath, ...loadingFlags(process.execArgv), ...(await entry())];
}

export function loadingFlags(flags: readonly string[]): string[] {
  return flags.filter((flag, index) => LOADING.test(flag) || WITH_VALUE.test(flags[index - 1] ?? ''));
}

async function entry(): Promise<string[]> {
  const { CHILD } = await import('./embedded-child.ts');
  if (CHILD === null && ENDING !== undefined) return [fileURLToPath(new URL(`./child/main${ENDING}`, import.meta.url))];
  if (CHILD !== null) return ['--input-type=module', '--eval', CHILD];
  throw new WaybillError('unsupported', 'The program for isolated modules is not part of this build of Waybill.');
}
