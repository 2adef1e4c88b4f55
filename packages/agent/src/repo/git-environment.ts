import { delimiter, dirname } from 'node:path';
import { WaybillError } from '@waybill/core';
import type { RepoAddress } from './repo-address.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Settings of every git command: nothing of the user, the system or the repository decides what git runs. */
const CONFIG: readonly (readonly [name: string, value: string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.autocrlf', 'false'],
  ['core.quotePath', 'false'],
  ['credential.helper', ''],
  // A redirect would take the token to another host.
  ['http.followRedirects', 'false'],
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '60'],
  ['fetch.recurseSubmodules', 'false'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'all'],
  // Otherwise it goes on in the background, where it would be ended.
  ['gc.autoDetach', 'false'],
  ['maintenance.autoDetach', 'false'],
  ['commit.gpgSign', 'false'],
  ['advice.detachedHead', 'false'],
  ['advice.addEmbeddedRepo', 'false'],
  ['protocol.ext.allow', 'never'],
];

const NOWHERE = '/nonexistent';
const PROTOCOLS = 'https:ssh:file';

/** Never asks, and gives up on a host that does not answer. */
const SSH = 'ssh -o BatchMode=yes -o ConnectTimeout=20';

/** What git needs of the environment of its worker, to reach a server. */
const INHERITED = [
  ...['PATH', 'TMPDIR', 'SSH_AUTH_SOCK', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'USER', 'LOGNAME'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** The token of a repository, as git is given it: in its environment, and nowhere else. */
export interface GitToken {
  header: readonly [name: string, value: string];
  /** What no text may show. */
  secrets: Readonly<Record<string, string>>;
}

/** For every git command, and with the token for one that talks to the server. */
export function gitEnvironment(worker: Variables, token: GitToken | null = null): Record<string, string> {
  const inherited = Object.fromEntries(
    INHERITED.flatMap((name) => (worker[name] === undefined ? [] : [[name, worker[name]]])),
  );
  const config = token === null ? CONFIG : [...CONFIG, token.header];
  const numbered = config.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    ...inherited,
    // There, curl would look for passwords.
    HOME: NOWHERE,
    XDG_CONFIG_HOME: NOWHERE,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_SSH_COMMAND: SSH,
    GIT_ALLOW_PROTOCOL: PROTOCOLS,
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(numbered),
  };
}

/** The protocols that git may use for an address: http only where the address was let through. */
export const allowedProtocols = ({ protocol }: RepoAddress): Record<string, string> =>
  protocol === 'http' ? { GIT_ALLOW_PROTOCOL: `${PROTOCOLS}:http` } : {};

const DEFAULT_USER = 'x-access-token';

/** Null where the task names no token. */
export function gitToken(
  credentials: { tokenEnv: string; user?: string } | undefined,
  worker: Variables,
  { url, protocol }: RepoAddress,
): GitToken | null {
  if (credentials === undefined) return null;
  const { tokenEnv, user = DEFAULT_USER } = credentials;
  if (protocol !== 'https' && protocol !== 'http')
    throw new WaybillError(
      'invalid_request',
      `The token in ${tokenEnv} needs an https repository, and this one is ${protocol}.`,
      {
        details: { field: 'credentials' },
      },
    );
  const token = worker[tokenEnv]?.trim();
  if (!token)
    throw new WaybillError('invalid_request', `The worker has no variable ${tokenEnv}, which 'credentials' names.`, {
      details: { field: 'credentials.tokenEnv' },
      hint: 'Set it in the environment of the worker.',
    });
  const basic = Buffer.from(`${user}:${token}`).toString('base64');
  return {
    // Only for this server.
    header: [`http.${new URL(url).origin}/.extraHeader`, `Authorization: Basic ${basic}`],
    secrets: { REPO_TOKEN: token, REPO_BASIC_TOKEN: basic },
  };
}
