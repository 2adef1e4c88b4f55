/** What a process of an agent task needs of the environment of its worker, besides what every isolated process gets. */
export const AGENT_VARIABLES: readonly string[] = [
  ...['ANTHROPIC_*', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_MODEL', 'DEFAULT_TIMEOUT', 'CLAUDE_CODE_MAX_RETRIES'],
  ...['CLAUDE_CODE_MAX_OUTPUT_TOKENS', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'API_TIMEOUT_MS'],
  ...['BASH_DEFAULT_TIMEOUT_MS', 'BASH_MAX_TIMEOUT_MS', 'MAX_STRUCTURED_OUTPUT_RETRIES', 'MAX_THINKING_TOKENS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'IS_SANDBOX', 'TZ', 'LANGUAGE'],
];

/** Settings of ours, which mean nothing to the CLI. */
const OURS = new Set(['CLAUDE_MODEL', 'DEFAULT_TIMEOUT']);

/** What the CLI gets of the environment of its worker, besides what the task names. Everything else stays outside. */
const INHERITED = [
  ...['PATH', 'HOME', 'CLAUDE_CONFIG_DIR', 'TMPDIR', 'TEMP', 'TMP', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*'],
  ...['TERM', 'COLORTERM', 'FORCE_COLOR', 'NO_COLOR', 'NODE_ENV'],
  ...['SystemRoot', 'ComSpec', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
  ...AGENT_VARIABLES.filter((name) => !OURS.has(name)),
  // The mark by which the worker finds all that a run has started.
  'WAYBILL_RUN',
];

/** Kept low, because the step tries again by itself, and the engine after it. */
const MAX_RETRIES = '2';

/** What the CLI would do besides its work, and what would outlive its answer. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // The to-do list as one tool that tells the whole list.
  CLAUDE_CODE_ENABLE_TASKS: '0',
};

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CliEnvironmentParts {
  worker: Environment;
  /** Names that the task adds; `X_*` names all that begin so. */
  inherit?: readonly string[];
  /** Variables of the task. */
  own?: Environment;
  /** The folders of the run. */
  folders: Environment;
}

/** The whole environment of the CLI. The variables of the task win, except for those that keep the CLI quiet. */
export function cliEnvironment({
  worker,
  inherit = [],
  own = {},
  folders,
}: CliEnvironmentParts): Record<string, string> {
  const inherited = selected(worker, [...INHERITED, ...inherit]);
  const all = { CLAUDE_CODE_MAX_RETRIES: MAX_RETRIES, ...inherited, ...folders, ...own, ...QUIET };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function selected(environment: Environment, names: readonly string[]): Environment {
  const exact = new Set(names);
  const starts = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => exact.has(name) || starts.some((start) => name.startsWith(start))),
  );
}

/** As `true` or `1`. */
export const isOn = (value: string | undefined): boolean => value === 'true' || value === '1';
