import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMissing, loadOptional } from '@waybill/core';
import type { AgentSdk } from './sdk-types.ts';

/** In a variable, so that neither the compiler nor a bundler looks for a package that most users do not have. */
const PACKAGE: string = '@anthropic-ai/claude-agent-sdk';

/**
 * The Claude Agent SDK as its user has installed it: beside the module of the task, or beside this package. The first
 * matters where a package manager keeps packages apart and the project alone has installed the SDK.
 */
export async function loadSdk(module?: string | URL): Promise<AgentSdk> {
  const wanted = { name: PACKAGE, needs: 'An agent task needs' };
  return await loadOptional<AgentSdk>(wanted, () => import(foundBeside(module) ?? PACKAGE));
}

function foundBeside(module: string | URL | undefined): string | null {
  if (module === undefined) return null;
  try {
    return pathToFileURL(createRequire(module).resolve(PACKAGE)).href;
  } catch (error) {
    if (isMissing(error, PACKAGE)) return null;
    throw error;
  }
}
