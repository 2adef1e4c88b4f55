import { randomUUID } from 'node:crypto';
import { type OwnedEnd, OwnedProcess } from '@waybill/worker/contained';
import type { SpawnedProcess, SpawnOptions } from './sdk-types.ts';

/** Of stderr, as much as an error tells. */
const TAIL = 4_000;

export type CliEnd = OwnedEnd;

/** Between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 5_000;

/** The process of the CLI, which this process owns: nothing that it started is left, and it ends when this process does. */
export class CliProcess {
  readonly #killAfterMs: number;
  #owned: OwnedProcess | undefined;
  #stderr = '';

  constructor(killAfterMs: number = KILL_AFTER_MS) {
    this.#killAfterMs = killAfterMs;
  }

  /** The option `spawnClaudeCodeProcess` of the SDK. */
  readonly spawn = ({ command, args, cwd, env, signal }: SpawnOptions): SpawnedProcess => {
    const owned = new OwnedProcess({
      ...{ command, args, cwd, env, mark: randomUUID() },
      killAfterMs: this.#killAfterMs,
    });
    this.#owned = owned;
    owned.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-TAIL);
    });
    signal.addEventListener('abort', () => owned.terminate(), { once: true });
    return owned.child;
  };

  get stderr(): string {
    return this.#stderr.trim();
  }

  /** SIGTERM, and SIGKILL where that does not help. Resolves when no process is left. */
  async terminate(): Promise<void> {
    this.#owned?.terminate();
    await this.#owned?.ended;
  }

  /** Waits for the CLI to exit by itself, and ends it where it does not in time. No process is left. */
  async close(withinMs: number): Promise<CliEnd | null> {
    return (await this.#owned?.close(withinMs)) ?? null;
  }
}
