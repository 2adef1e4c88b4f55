import { join } from 'node:path';
import {
  type AgentContext,
  type AgentDefinition,
  type CheckedDefinition,
  checkDefinition,
  clampTimeout,
} from './agent-definition.ts';
import { type AgentResult, accountsOf } from './agent-result.ts';
import { asksPeople, placeNeeded, withPeople } from './people/with-people.ts';
import { cliEnvironment, isOn } from './query/cli-environment.ts';
import { openCliFolders } from './query/cli-folders.ts';
import { repoPlace } from './repo/repo-place.ts';
import type { RepoRun } from './repo/repo-run.ts';
import { AgentRun } from './run/agent-run.ts';
import { attempts, MOST_ATTEMPTS } from './run/attempts.ts';
import { type AgentOutside, defaultVerdict } from './run/outside.ts';
import { AFTER_FAILURE, AFTER_RESTART } from './run/prompts.ts';
import { RunFolder, requestIdOf } from './run/run-folder.ts';
import { RunRecord } from './run/run-record.ts';
import { memoryFiles, type RunFiles } from './run-files.ts';
import { loadSdk } from './sdk/load-sdk.ts';
import { envFilesIn } from './security/env-files.ts';
import { Redactor } from './security/redactor.ts';
import { AgentSession } from './session/agent-session.ts';
import { budgetKeyOf } from './usage/budget.ts';
import { KeptSpent } from './usage/kept-spent.ts';
import { budgetEnd, SharedBudgets } from './usage/shared-budgets.ts';
import { Spent } from './usage/spent.ts';

const DEFAULT_TIMEOUT = 120_000;

/** Runs an agent to its result. What it throws ends the run of the job: an AgentError, or the reason of the signal. */
export async function runAgent<Input, Output>(
  definition: AgentDefinition<Input, Output>,
  input: Input,
  context: AgentContext,
  outside: AgentOutside = {},
): Promise<AgentResult<Output>> {
  const checked = checkDefinition(definition as AgentDefinition);
  return (await runChecked(checked, input, context, outside)) as AgentResult<Output>;
}

export async function runChecked(
  checked: CheckedDefinition,
  input: unknown,
  context: AgentContext,
  outside: AgentOutside,
): Promise<AgentResult> {
  const { definition } = checked;
  const { env: worker = process.env, cwd = process.cwd() } = outside;
  const { job } = context;
  const place = repoPlace({ name: definition.name, definition, input, jobId: job.id, worker, cwd });
  const redactor = new Redactor(worker, definition.env ?? {}, place?.token?.secrets ?? {}, ...(await envFilesIn(cwd)));
  const files = await usableFiles(context, definition);
  const session = await AgentSession.open(job.id, files, redactor);
  const asking = await withPeople(outside, { definition, context, files, sessionId: session.id, redactor });
  const kept = await KeptSpent.open(files, session.id);
  const spent = Spent.from(context.lastCheckpoint, kept.found, definition.prices);
  const { budget = {} } = definition;
  const shared = new SharedBudgets({ context, key: budgetKeyOf(budget, input), from: spent.totals() });
  const requestId = outside.requestId ?? requestIdOf(job);
  const folder = new RunFolder(
    outside.outputFolder ?? join(cwd, '.output'),
    requestId,
    redactor,
    definition.outputFile,
  );
  const record = new RunRecord({ task: definition.name, sessionId: session.id, context, folder, redactor });
  const timeoutMs = clampTimeout(definition.timeout ?? (Number(worker['DEFAULT_TIMEOUT']) || DEFAULT_TIMEOUT));
  warnOfTimeout(timeoutMs, context);
  const folders = await openCliFolders(worker);
  let repo: RepoRun | undefined;
  try {
    const { inheritEnv: inherit = [], env: own = {} } = definition;
    const env = cliEnvironment({ worker, inherit, own, folders: folders.variables });
    const sdk = outside.sdk ?? (await loadSdk(outside.module));
    if (place !== null) {
      const { RepoRun: Repo } = await import('./repo/repo-run.ts');
      repo = await Repo.open({ checked, place, context, sessionId: session.id, files, worker, record, redactor });
    }
    const run = new AgentRun({
      ...{
        checked,
        context,
        outside: asking,
        worker,
        env,
        sdk,
        session,
        spent,
        kept,
        shared,
        record,
        redactor,
        timeoutMs,
      },
      ...(repo === undefined ? { cwd } : { cwd: repo.path, hooks: repo.hooks }),
    });
    const asked = (first: string, resume: string): Promise<unknown> =>
      tried(run, { first, resume }, session, record, context, asking);
    const given = asking.extension?.resumePrompt;
    const resume = repo?.resumePrompt(given) ?? given ?? AFTER_RESTART;
    const answer = await asked(await firstPrompt(checked, input, context), resume);
    const settled = await repo?.settle(answer, (prompt) => asked(prompt, prompt));
    const clean = redactor.withoutKnown(settled === undefined ? answer : settled.output);
    const made = await definition.processOutput?.(clean, input, context);
    const result: AgentResult = {
      output: made === undefined ? clean : made,
      ...accountsOf(spent.totals()),
      durationMs: record.durationMs,
      attempts: record.attempts.length,
      sessionId: session.id,
      ...(settled !== undefined && { repo: settled.repo }),
    };
    await record.completed(result);
    await session.end();
    return result;
  } catch (error) {
    record.failed(error);
    const end = budget.whenExceeded === 'wait' ? budgetEnd(error) : null;
    if (end !== null) context.snooze(end);
    throw error;
  } finally {
    await repo?.close();
    await folders.remove().catch((error: unknown) => {
      context.log('Could not remove the folders of the agent. Remove them by hand.', record.describe(error), {
        level: 'warn',
      });
    });
    await record.close(spent, files, outside.deleteFiles ?? isOn(worker['DELETE_FILES_AFTER_UPLOAD']));
  }
}

function tried(
  run: AgentRun,
  prompts: { first: string; resume: string },
  session: AgentSession,
  record: RunRecord,
  { signal }: AgentContext,
  { classify = defaultVerdict, retryBaseMs }: AgentOutside,
): Promise<unknown> {
  const attempt = async (number: number): Promise<unknown> => {
    if (!(await session.hasBegun())) return await run.attempt(prompts.first, number);
    return await run.attempt(number > 1 ? AFTER_FAILURE : prompts.resume, number);
  };
  return attempts({ signal, baseMs: retryBaseMs, classify, attempt, run, record });
}

/** A worker without a place for files says so at the first call. */
async function usableFiles({ files, log }: AgentContext, definition: AgentDefinition): Promise<RunFiles> {
  try {
    await files.get('sessions/state.json');
    return files;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'unsupported') throw error;
    if (asksPeople(definition)) throw placeNeeded(definition.name);
    log('The worker keeps no files of jobs, so this agent cannot be resumed by another run.', {}, { level: 'warn' });
    return memoryFiles();
  }
}

/** A run that is cut short before its attempts are used up fails without the last of them. */
function warnOfTimeout(timeoutMs: number, { job, log }: AgentContext): void {
  const needed = timeoutMs * MOST_ATTEMPTS;
  if (job.timeoutMs === null || job.timeoutMs === undefined || job.timeoutMs >= needed) return;
  const message = `The timeout of the job is shorter than ${MOST_ATTEMPTS} attempts of its agent.`;
  log(message, { jobTimeoutMs: job.timeoutMs, neededMs: needed }, { level: 'warn' });
}

async function firstPrompt(
  { definition, template }: CheckedDefinition,
  input: unknown,
  context: AgentContext,
): Promise<string> {
  const { job, parentResults } = context;
  if (typeof definition.prompt === 'function') return await definition.prompt(input, context);
  const shown = { id: job.id, type: job.type, run: job.run, attempt: context.attempt };
  return template!.render([input, { input, parentResults, job: shown }]);
}
