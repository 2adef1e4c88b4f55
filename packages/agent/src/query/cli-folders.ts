import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './cli-environment.ts';

export interface CliFolders {
  readonly variables: Environment;
  remove(): Promise<void>;
}

/**
 * Home, configuration and temporary folder of the CLI. A process of its own brings them, which CLAUDE_CONFIG_DIR tells;
 * otherwise the run gets new ones, because the CLI would read and write those of the user.
 */
export async function openCliFolders(environment: Environment): Promise<CliFolders> {
  if (environment['CLAUDE_CONFIG_DIR']) return { variables: {}, remove: async () => {} };
  const folder = await mkdtemp(join(environment['TMPDIR'] || tmpdir(), 'waybill-agent-'));
  const variables = {
    HOME: join(folder, 'home'),
    CLAUDE_CONFIG_DIR: join(folder, 'config'),
    TMPDIR: join(folder, 'tmp'),
  };
  await Promise.all(Object.values(variables).map((path) => mkdir(path)));
  return { variables, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}
