import { delimiter, dirname } from 'node:path';

/** What every isolated process may know of the worker's environment: nothing that is secret belongs here. */
export const INHERITED: readonly string[] = [
  ...['PATH', 'USER', 'SHELL', 'LANG', 'LC_*', 'TERM', 'COLORTERM', 'FORCE_COLOR', 'NODE_ENV'],
  ...['CLAUDE_CODE_PATH', 'CLAUDE_TIMEOUT', 'MAX_CONCURRENT_CLAUDE', 'CLAUDE_SKIP_PERMISSIONS'],
  ...['S3_BUCKET', 'DELETE_FILES_AFTER_UPLOAD', 'EVENTBRIDGE_BUS_NAME', 'TENANT_ID', 'APP_NAME'],
  'TASK_DEFINITIONS_TABLE',
];

/** Where a run has its own files; see run-folder.ts. */
export interface OwnPlaces {
  home: string;
  config: string;
  temp: string;
  cwd: string;
}

export interface EnvironmentParts {
  /** The worker's. */
  worker: Readonly<Record<string, string | undefined>>;
  inheritEnv: readonly string[] | false;
  env: Readonly<Record<string, string>>;
  own: OwnPlaces;
}

/**
 * The whole environment of an isolated process. HOME, CLAUDE_CONFIG_DIR and TMPDIR are the run's own, unless the task sets
 * or inherits them by name.
 */
export function environmentOf({ worker, inheritEnv, env, own }: EnvironmentParts): Record<string, string> {
  const places = { HOME: own.home, CLAUDE_CONFIG_DIR: own.config, TMPDIR: own.temp, PWD: own.cwd };
  const names = inheritEnv === false ? [] : [...INHERITED, ...inheritEnv];
  const environment: Record<string, string> = { ...places, ...selected(worker, names), ...env };
  // Without a PATH no program is found, the Node of the worker included.
  environment['PATH'] ??= [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  return environment;
}

function selected(all: EnvironmentParts['worker'], names: readonly string[]): Record<string, string> {
  const plain = new Set(names);
  const starts = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const kept = Object.entries(all).filter(
    ([name, value]) => value !== undefined && (plain.has(name) || starts.some((start) => name.startsWith(start))),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}
