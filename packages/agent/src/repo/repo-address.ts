import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type RepoProtocol = 'https' | 'http' | 'ssh' | 'file';

/** Where a repository is, as git is told. It never has a password in it. */
export interface RepoAddress {
  url: string;
  protocol: RepoProtocol;
  /** The last part of its path, for names of folders. */
  name: string;
}

export interface BadAddress {
  problem: string;
}

/** `user@host:path`, which git takes for ssh when no slash stands before the colon. */
const SCP_LIKE = /^(?:([\w.-]+)@)?([\w.-]+|\[[0-9a-f:]+\]):(?!\/\/)(?!:)(.+)$/i;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;

const EXAMPLES = "such as 'https://host/team/app.git', 'git@host:team/app.git' or '/srv/git/app.git'";

/** An address that git may be given, or why it may not: no option, no transport that starts a program, and no secret in it. */
export function repoAddress(text: unknown, cwd: string): RepoAddress | BadAddress {
  if (typeof text !== 'string' || text === '') return { problem: `must be an address or a path, ${EXAMPLES}` };
  if (text.startsWith('-')) return { problem: `must not begin with '-': ${EXAMPLES}` };
  if (CONTROL.test(text)) return { problem: 'must have no line breaks and no control characters' };
  // `ext::sh -c ..` runs a program, and other helpers of git are named in the same way.
  if (/^[\w.+-]+::/.test(text))
    return { problem: `must not name a transport of git before '::'. Use an address ${EXAMPLES}` };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return ofUrl(text);
  const scp = SCP_LIKE.exec(text);
  if (scp !== null) return ofHost('ssh', text, scp[1], scp[2]!, scp[3]!);
  return ofPath(resolve(cwd, text));
}

function ofUrl(text: string): RepoAddress | BadAddress {
  if (!URL.canParse(text)) return { problem: `is no valid address. Use one ${EXAMPLES}` };
  const url = new URL(text);
  const protocol = url.protocol.slice(0, -1);
  if (protocol === 'file') return ofFileUrl(url);
  if (protocol !== 'https' && protocol !== 'http' && protocol !== 'ssh')
    return { problem: `must have the protocol https, ssh or file, not '${protocol}'` };
  if (protocol === 'http' && !LOOPBACK.has(url.hostname))
    return { problem: "must have the protocol https, because with 'http' anyone on the way can read and change it" };
  if (url.password !== '' || (url.username !== '' && protocol !== 'ssh'))
    return { problem: "must have no user or password in it. Name the variable of a token by 'credentials'" };
  if (url.search !== '' || url.hash !== '') return { problem: "must have no '?' and no '#'" };
  return ofHost(protocol, url.href, url.username, url.hostname, url.pathname);
}

/** ssh would take a host or user that begins with a hyphen for an option. */
function ofHost(
  protocol: RepoProtocol,
  url: string,
  user: string | undefined,
  host: string,
  path: string,
): RepoAddress | BadAddress {
  if ([user ?? '', host, path].some((part) => part.startsWith('-')))
    return { problem: "must have no host, user or path that begins with '-'" };
  if (host === '' || path === '' || path === '/') return { problem: `must name a host and a path, ${EXAMPLES}` };
  return { url, protocol, name: nameOf(path) };
}

function ofFileUrl(url: URL): RepoAddress | BadAddress {
  if (url.host !== '') return { problem: 'must have no host where its protocol is file' };
  return ofPath(fileURLToPath(url));
}

const ofPath = (path: string): RepoAddress => ({
  url: pathToFileURL(path).href,
  protocol: 'file',
  name: nameOf(path),
});

function nameOf(path: string): string {
  const last =
    path
      .replace(/\/+$/, '')
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .at(-1) ?? '';
  return (
    last
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[.-]+/, '')
      .slice(0, 60) || 'repository'
  );
}
