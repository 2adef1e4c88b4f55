import { join } from 'node:path';
import { type AgentDefinition, checkDefinition } from '../../agent-definition.ts';
import { RunFolder } from '../../run/run-folder.ts';
import { RunRecord } from '../../run/run-record.ts';
import { Redactor } from '../../security/redactor.ts';
import { RecordedContext, type RecordedContextOptions } from '../../testing/recorded-context.ts';
import { repoPlace } from '../repo-place.ts';
import { RepoRun } from '../repo-run.ts';

export interface Opened {
  run: RepoRun;
  context: RecordedContext;
  /** Where the run keeps what it says for people. */
  outputFolder: string;
}

export interface OpenOptions extends RecordedContextOptions {
  worker?: Record<string, string | undefined>;
  sessionId?: string;
  context?: RecordedContext;
}

/** Opens the repository of a run as `runAgent` does, without an agent. */
export async function openIn(
  outputFolder: string,
  definition: Partial<AgentDefinition>,
  options: OpenOptions = {},
): Promise<Opened> {
  const { worker = { PATH: process.env['PATH'] }, sessionId = 'session-1' } = options;
  const checked = checkDefinition({ name: 'repo.test', prompt: 'Work.', tools: [], ...definition });
  const context = options.context ?? new RecordedContext(options);
  const { name } = checked.definition;
  const jobId = context.job.id;
  const place = repoPlace({ name, definition: checked.definition, input: {}, jobId, worker, cwd: '/' })!;
  const redactor = new Redactor(worker, place.token?.secrets ?? {});
  const files = new RunFolder(join(outputFolder, '.output'), 'run', redactor);
  const record = new RunRecord({ task: name, sessionId, context, folder: files, redactor });
  const run = await RepoRun.open({
    ...{ checked, place, context, sessionId, files: context.files, worker, record, redactor },
  });
  return { run, context, outputFolder };
}

/** An agent that never has to mend anything. */
export const noFix = async (prompt: string): Promise<never> => {
  throw new Error(`The agent was asked to mend: ${prompt}`);
};
