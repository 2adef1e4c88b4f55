import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import type { Remote } from './remote.ts';

export interface GitServer {
  /** Of the repository. */
  url: string;
  /** Arguments of all processes of this machine, as they were during each request. */
  commands: string[];
  close(): Promise<void>;
}

/** A server that gives and takes a repository over HTTP, by git itself, to those who show a user and a password. */
export async function gitServer(remote: Remote, basic: string): Promise<GitServer> {
  const commands: string[] = [];
  const server = createServer((request, response) => {
    commands.push(...commandLines());
    if (request.headers.authorization !== `Basic ${Buffer.from(basic).toString('base64')}`)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('Who are you?');
    else serve(remote, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/app.git`,
    commands,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function serve(remote: Remote, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url!, 'http://host');
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent' },
      ...{ GIT_PROJECT_ROOT: dirname(remote.path), GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'someone' },
      ...{ PATH_INFO: url.pathname, QUERY_STRING: url.search.slice(1), REQUEST_METHOD: request.method! },
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: (request.headers['content-encoding'] as string | undefined) ?? '',
      GIT_PROTOCOL: (request.headers['git-protocol'] as string | undefined) ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(backend.stdin);
  backend.stdin.on('error', () => {});
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  backend.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const headers = answer
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.end(answer.subarray(end + 4));
  });
}

/** Those of a process that has just ended are not there any more. */
function commandLines(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
    } catch {
      return [];
    }
  });
}
