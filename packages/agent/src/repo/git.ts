import { randomUUID } from 'node:crypto';
import { type ProcessEnd, startContained } from '@waybill/worker/contained';
import type { AgentError } from '../agent-error.ts';
import type { Redactor } from '../security/redactor.ts';
import { gitFailure } from './repo-failure.ts';

export interface GitCall {
  /** A folder that is a repository, whose files are in it: no work tree. */
  gitDir?: string;
  workTree?: string;
  stdin?: string;
  /** Added to the environment, such as what lets git reach the server. */
  env?: Readonly<Record<string, string>>;
  deadlineMs?: number;
  /** What the command is for, for its error. */
  doing: string;
}

export interface GitParts {
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  redactor: Redactor;
}

/** Of a command that talks to no server. */
const DEADLINE_MS = 5 * 60_000;
/** Lists of names and counts; files are written by git itself. */
const MAX_OUTPUT = 64 * 1_024 * 1_024;
/** Cancelled within it, with all that git has started. */
const KILL_AFTER_MS = 2_000;

/** Runs git, contained as every program of an isolated task is. */
export class Git {
  readonly #parts: GitParts;

  constructor(parts: GitParts) {
    this.#parts = parts;
  }

  /** What it has printed. Throws where it has failed, or the reason of the signal. */
  async run(args: readonly string[], call: GitCall): Promise<string> {
    const { end, stdout } = await this.end(args, call);
    if (end.outcome === 'exited') return stdout;
    throw this.failure(call, end);
  }

  /** Null where git has answered no, which is an exit code of 1 or 128 without a word about a server. */
  async ask(args: readonly string[], call: GitCall): Promise<string | null> {
    const { end, stdout } = await this.end(args, call);
    if (end.outcome === 'exited') return stdout.trim();
    if (end.outcome === 'nonzero') return null;
    throw this.failure(call, end);
  }

  failure({ doing }: GitCall, end: ProcessEnd): AgentError {
    return gitFailure(doing, end, this.#parts.redactor);
  }

  /** However it ended. Throws the reason of the signal only. */
  async end(args: readonly string[], call: GitCall): Promise<{ end: ProcessEnd; stdout: string }> {
    const { signal } = this.#parts;
    signal.throwIfAborted();
    const { gitDir, workTree } = call;
    const chunks: Buffer[] = [];
    const process = startContained(
      {
        command: ['git', ...args],
        cwd: workTree ?? gitDir ?? '/',
        env: {
          ...this.#parts.env,
          ...call.env,
          ...(gitDir !== undefined && { GIT_DIR: gitDir }),
          ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
        },
        mark: randomUUID(),
        ...(call.stdin !== undefined && { stdin: call.stdin }),
        limits: {
          timeoutMs: call.deadlineMs ?? DEADLINE_MS,
          maxOutputBytes: MAX_OUTPUT,
          maxLineBytes: 0,
          killAfterMs: KILL_AFTER_MS,
        },
      },
      { onOutput: (chunk, stream) => void (stream === 'stdout' && chunks.push(chunk)) },
    );
    const cancel = (): void => process.end('cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    const end = await process.ended;
    signal.removeEventListener('abort', cancel);
    signal.throwIfAborted();
    return { end, stdout: Buffer.concat(chunks).toString('utf8') };
  }
}
