import type { AgentContext, CheckedDefinition } from '../agent-definition.ts';
import { AgentError } from '../agent-error.ts';
import { AFTER_RESTART } from '../run/prompts.ts';
import type { RunRecord } from '../run/run-record.ts';
import type { RunFiles } from '../run-files.ts';
import type { SdkHooks } from '../sdk/sdk-types.ts';
import type { Redactor } from '../security/redactor.ts';
import { type FeedbackResult, fixPrompt, hasCommands, runFeedback } from './feedback.ts';
import { Git } from './git.ts';
import { allowedProtocols, gitEnvironment } from './git-environment.ts';
import { defaultRepoCache, type Mirror, RepoCache } from './repo-cache.ts';
import { repoFailure } from './repo-failure.ts';
import type { RepoPlace } from './repo-place.ts';
import type { RepoPatch, RepoResult } from './repo-result.ts';
import { RunRepository } from './run-repository.ts';
import { putParts, SavedWork } from './saved-work.ts';
import { WorkSaver } from './work-saver.ts';

export interface RepoRunParts {
  checked: CheckedDefinition;
  place: RepoPlace;
  context: Pick<AgentContext, 'job' | 'signal' | 'log'>;
  sessionId: string;
  files: RunFiles;
  worker: Readonly<Record<string, string | undefined>>;
  record: RunRecord;
  redactor: Redactor;
}

const ROUNDS = 2;
const PATCH = 'artifacts/changes.patch';
/** Larger changes are on the branch only. */
const LARGEST_PATCH = 64 * 1_024 * 1_024;
const AUTHOR = { name: 'waybill agent', email: 'agent@waybill.invalid' };

/** The part of a run that is about its repository: from the working folder to the branch and the patch. */
export class RepoRun {
  readonly #parts: RepoRunParts;
  readonly #cache: RepoCache;
  readonly #mirror: Mirror;
  readonly #repository: RunRepository;
  readonly #saved: SavedWork;
  readonly #saver: WorkSaver;
  #isKept = false;

  private constructor(
    parts: RepoRunParts,
    cache: RepoCache,
    mirror: Mirror,
    repository: RunRepository,
    saved: SavedWork,
  ) {
    this.#parts = parts;
    this.#cache = cache;
    this.#mirror = mirror;
    this.#repository = repository;
    this.#saved = saved;
    this.#saver = new WorkSaver(repository, saved, (error) => this.#notSaved(error));
  }

  /** Fetches the repository, and makes a working folder that is as the last run of the conversation has left it. */
  static async open(parts: RepoRunParts): Promise<RepoRun> {
    const { place, worker, context, redactor, checked, record } = parts;
    const { address, ref, branch, token } = place;
    const { signal } = context;
    const git = new Git({ env: gitEnvironment(worker), signal, redactor });
    const server = { ...gitEnvironment(worker, token), ...allowedProtocols(address) };
    const base = checked.definition.repoCache ?? defaultRepoCache(worker);
    const cache = new RepoCache({ base, address, server, git, signal });
    const saved = await SavedWork.open(parts.files, parts.sessionId, address.url);
    const author = { ...AUTHOR, ...checked.definition.author };
    const bundle = await saved.bundle();
    const make = async (isBroken: boolean): Promise<RepoRun> => {
      const mirror = await cache.prepare(ref, saved.base, isBroken);
      try {
        const repository = await RunRepository.create({ mirror, branch, author, git }, bundle);
        if (saved.pushed !== null) await repository.continueFrom(saved.pushed);
        return new RepoRun(parts, cache, mirror, repository, saved);
      } catch (error) {
        await mirror.folder.remove();
        signal.throwIfAborted();
        // The copy may lack an object that fetching does not look at.
        if (isBroken || !(error instanceof AgentError)) throw error;
        return await make(true);
      }
    };
    const run = await make(false);
    const commit = run.#repository.base;
    if (saved.base === undefined) await saved.note({ base: commit });
    record.entries.repository({ url: address.url, commit, branch, isRestored: bundle !== null });
    return run;
  }

  /** Where the agent works. */
  get path(): string {
    return this.#repository.path;
  }

  /** Saves the work after each tool, as the transcript is kept after each message. */
  get hooks(): SdkHooks {
    const save = async (): Promise<object> => {
      this.#saver.request();
      return {};
    };
    return { PostToolUse: [{ hooks: [save] }] };
  }

  /** The first prompt of a run that goes on with the conversation of an earlier one. `given`: what else it is to be told. */
  resumePrompt(given?: string): string {
    return (
      `${given ?? this.#saved.problems ?? AFTER_RESTART}\n\n` +
      `Your working folder is ${this.path} now, and earlier folders do not exist any more. Your changes were restored, but ` +
      'no files that git ignores, such as installed packages.'
    );
  }

  /** Runs the feedback commands, lets the agent mend what fails, and keeps what it has done. */
  async settle(
    output: unknown,
    ask: (prompt: string) => Promise<unknown>,
  ): Promise<{ output: unknown; repo: RepoResult }> {
    const { feedback, whenFeedbackFails = 'fail' } = this.#parts.checked.definition;
    let last = output;
    let results: FeedbackResult[] = [];
    let rounds = 0;
    for (; ; rounds += 1) {
      await this.#saver.now();
      if (!hasCommands(feedback)) break;
      results = await this.#judged(rounds);
      if (results.every(({ passed }) => passed)) break;
      const prompt = fixPrompt(results, feedback);
      // Also after the last round: if the job is run again, that run begins with it.
      await this.#saved.note({ problems: prompt });
      if (rounds >= (feedback.rounds ?? ROUNDS)) break;
      last = await ask(prompt);
    }
    const failed = results.find(({ passed }) => !passed);
    const repo = await this.#kept(results, rounds, failed === undefined || whenFeedbackFails === 'complete');
    if (failed === undefined || whenFeedbackFails === 'complete') return { output: last, repo };
    throw feedbackFailed(failed, repo);
  }

  /** The working folder is removed, however the run has ended. What is there and not saved yet is saved first. */
  async close(): Promise<void> {
    if (!this.#isKept && !this.#parts.context.signal.aborted) await this.#saver.now();
    await this.#saver.stop();
    // What cannot be removed now is removed when this process is gone.
    await this.#mirror.folder.remove().catch(() => {});
  }

  async #judged(round: number): Promise<FeedbackResult[]> {
    const { checked, worker, context, redactor, record } = this.#parts;
    const { feedback, env, inheritEnv } = checked.definition;
    return await runFeedback({
      ...{ options: feedback!, cwd: this.path, folder: this.#mirror.folder, worker, env, inheritEnv, redactor },
      signal: context.signal,
      heard: (result) => record.feedback(result, round),
    });
  }

  async #kept(feedback: FeedbackResult[], rounds: number, isGood: boolean): Promise<RepoResult> {
    const { checked, context, place } = this.#parts;
    const repository = this.#repository;
    await this.#saver.stop();
    const tree = await repository.tree();
    const head = await repository.commit(tree, `Changes of ${checked.definition.name}\n\nJob: ${context.job.id}\n`);
    this.#isKept = true;
    const passed = feedback.every((result) => result.passed);
    const facts = { commit: repository.base, head, feedback, passed, rounds };
    if (head === repository.base) return { ...facts, branch: null, pushed: false, patch: null };
    const patch = await this.#patch(head);
    const pushed = isGood && checked.definition.push === true;
    if (pushed) await this.#saved.note({ pushed: head });
    await this.#cache.keep(repository.gitDir, place.branch, pushed);
    return { ...facts, branch: place.branch, pushed, patch };
  }

  async #patch(head: string): Promise<RepoPatch> {
    const { files, record, place, context } = this.#parts;
    const counts = await this.#repository.countsTo(head);
    const patch = await this.#repository.patchTo(head, LARGEST_PATCH);
    if (patch === null) {
      context.log(
        'The patch of the agent is too large to be kept. Its branch has the changes.',
        { ...counts },
        { level: 'warn' },
      );
      return { ...counts, file: null, parts: 0 };
    }
    const secrets = Object.values(place.token?.secrets ?? {});
    if (secrets.some((secret) => patch.includes(secret)))
      throw repoFailure("The changes of the agent contain the token of 'credentials', so they were not kept.");
    await record.writePatch(patch);
    return { ...counts, file: PATCH, parts: await putParts(files, PATCH, patch) };
  }

  #notSaved(error: unknown): void {
    const { context, record } = this.#parts;
    if (context.signal.aborted) return;
    const message = 'Could not save the work of the agent. A run after a crash would begin from an older state.';
    context.log(message, record.describe(error), { level: 'warn' });
  }
}

/** The policy of the job decides whether it is run again. A further run goes on where this one has ended. */
function feedbackFailed({ name, exitCode, output }: FeedbackResult, { branch, rounds }: RepoResult): AgentError {
  const message = `The changes of the agent do not pass '${name}' after ${rounds} fix rounds: ${output}`;
  return new AgentError('feedback_failed', message, {
    retryable: true,
    details: { command: name, exit_code: exitCode, rounds, branch, patch: branch && PATCH },
  });
}
