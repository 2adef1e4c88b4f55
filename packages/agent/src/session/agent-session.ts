import { createHash } from 'node:crypto';
import { WaybillError } from '@waybill/core';
import type { RunFiles } from '../run-files.ts';
import type { Redactor } from '../security/redactor.ts';
import { FileSessionStore } from './file-session-store.ts';

const STATE = 'sessions/state.json';
/** A tool waits so long for its call to be kept. */
const KEPT_WITHIN_MS = 30_000;

interface State {
  /** How many conversations of the job have come to their end. */
  ended: number;
}

/** The conversation of a job. Its runs go on with it until one of them has come to its end. */
export class AgentSession {
  readonly id: string;
  readonly store: FileSessionStore;
  readonly #files: RunFiles;
  readonly #ended: number;
  readonly #fail: (error: unknown) => void;
  readonly #failed = Promise.withResolvers<void>();
  #failure: { error: unknown } | undefined;
  #hear: () => void = () => {};

  private constructor(jobId: string, ended: number, files: RunFiles, redactor: Redactor) {
    this.id = sessionIdOf(jobId, ended);
    this.#files = files;
    this.#ended = ended;
    this.#fail = (error: unknown): void => {
      this.#failure ??= { error };
      this.#failed.resolve();
      this.#hear();
    };
    this.store = new FileSessionStore(files, this.#fail, (entry) => redactor.transcript(entry));
  }

  static async open(jobId: string, files: RunFiles, redactor: Redactor): Promise<AgentSession> {
    const state = await files.get(STATE);
    const { ended = 0 } = state === null ? {} : (JSON.parse(Buffer.from(state).toString('utf8')) as Partial<State>);
    return new AgentSession(jobId, ended, files, redactor);
  }

  /** Whether there is a conversation to go on with. Without an answer or a prompt the CLI would not find one. */
  async hasBegun(): Promise<boolean> {
    const entries = (await this.store.load({ projectKey: '', sessionId: this.id })) ?? [];
    return entries.some(({ type }) => type === 'user' || type === 'assistant');
  }

  /**
   * Whether a call of the model is kept, so that its tool may run: a run that is killed while the tool works must not leave a
   * conversation that knows nothing of it. Where it cannot be kept, the run fails.
   */
  async keeps(toolUseId: string): Promise<boolean> {
    const late = (): void =>
      this.#fail(new WaybillError('unavailable', `The transcript was not kept within ${KEPT_WITHIN_MS} ms.`));
    const timer = setTimeout(late, KEPT_WITHIN_MS);
    await Promise.race([this.store.calls.wait(toolUseId), this.#failed.promise]);
    clearTimeout(timer);
    return this.#failure === undefined;
  }

  /** Why the transcript could not be kept. */
  get failure(): { error: unknown } | undefined {
    return this.#failure;
  }

  onFailure(hear: () => void): void {
    this.#hear = hear;
    if (this.#failure !== undefined) hear();
  }

  /** What follows is a conversation of its own: a job that is replayed after it was done must not see the old one. */
  async end(): Promise<void> {
    await this.#files.put(STATE, Buffer.from(JSON.stringify({ ended: this.#ended + 1 } satisfies State)));
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of the job, as the CLI wants it: a UUID. A later conversation of the same job has one made from it. */
export function sessionIdOf(jobId: string, ended: number): string {
  if (ended === 0 && UUID.test(jobId)) return jobId;
  const digits = createHash('sha256').update(`waybill agent session ${jobId} ${ended}`).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
