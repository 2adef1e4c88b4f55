import { checkNames, WaybillError } from '@waybill/core';
import { AGENT_VARIABLES } from '../query/cli-environment.ts';
import { problemOfRefName } from './ref-name.ts';
import { repoAddress } from './repo-address.ts';

/** A text runs in a shell; a list is a program and its arguments. */
export type FeedbackCommand = string | readonly [string, ...string[]];

export const FEEDBACK_NAMES = ['lint', 'typecheck', 'test'] as const;
export type FeedbackName = (typeof FEEDBACK_NAMES)[number];

/** Commands that judge the work of the agent, in its working folder. `test` runs only where `lint` and `typecheck` have passed. */
export interface FeedbackOptions extends Partial<Record<FeedbackName, FeedbackCommand>> {
  /** How often the agent is asked to mend what failed, in one run. @defaultValue 2 */
  rounds?: number;
  /** Milliseconds of one command. @defaultValue 120_000 */
  timeout?: number;
}

/** A value, or what makes it of the input of the job. */
type FromInput<Value, Input> = Value | ((input: Input) => Value);

/** What makes an agent task one on a repository. */
export interface RepoDefinition<Input = unknown> {
  /** Its address (https, ssh, file) or path. The agent works in a working folder of its own. */
  repo?: FromInput<string, Input>;
  /** Branch, tag or commit that the agent begins from. @defaultValue the default branch of the repository */
  ref?: FromInput<string | undefined, Input>;
  /** Branch that the changes are committed on. @defaultValue 'waybill/{id of the job}' */
  branch?: FromInput<string | undefined, Input>;
  feedback?: FeedbackOptions;
  /** What becomes of the run when a command still fails after the last round. @defaultValue 'fail' */
  whenFeedbackFails?: 'complete' | 'fail';
  /** Whether the branch is pushed to the repository; it is never forced. @defaultValue false: it is kept in the cache */
  push?: boolean;
  /** Of an https repository. Only git gets the token. */
  credentials?: { tokenEnv: string; user?: string };
  /** Author of the commit. @defaultValue 'waybill agent' */
  author?: { name?: string; email?: string };
  /** Folder with copies of repositories, shared by all workers of the machine. @defaultValue ~/.cache/waybill/repositories */
  repoCache?: string;
}

export const REPO_NAMES: Readonly<Record<keyof RepoDefinition, true>> = {
  ...{ repo: true, ref: true, branch: true, feedback: true, whenFeedbackFails: true, push: true },
  ...{ credentials: true, author: true, repoCache: true },
};

/** What the process that runs git needs of the environment of the worker. The agent in it gets none of these. */
export const variablesOfRepo = ({ repo, credentials }: RepoDefinition<never>): string[] =>
  repo === undefined ? [] : ['XDG_CACHE_HOME', 'SSH_AUTH_SOCK', ...(credentials ? [credentials.tokenEnv] : [])];

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What of the agent's environment a task chooses. */
interface Environment {
  env?: Readonly<Record<string, string>>;
  inheritEnv?: readonly string[];
}

/** Refuses what could not work where it is written. Values that a function makes are checked when it has made them. */
export function checkRepoDefinition(definition: RepoDefinition<never> & Environment, owner: string): void {
  const { repo, ref, branch, feedback, credentials, author, whenFeedbackFails, push, repoCache } = definition;
  const mistake = (field: string, problem: string): WaybillError => mistakeOf(owner, field, problem);
  if (repo === undefined) {
    const alone = Object.keys(REPO_NAMES).find((name) => definition[name as keyof RepoDefinition] !== undefined);
    if (alone !== undefined) throw mistake(alone, "needs 'repo', the repository that it is about");
    return;
  }
  if (typeof repo !== 'function') {
    const address = repoAddress(repo, '/');
    if ('problem' in address) throw mistake('repo', address.problem);
    if (credentials !== undefined && !address.protocol.startsWith('http'))
      throw mistake('credentials', `has a token, which only an https repository takes, and not ${address.protocol}`);
  }
  for (const [field, name] of Object.entries({ ref, branch })) {
    const problem = name === undefined || typeof name === 'function' ? null : problemOfRefName(name);
    if (problem !== null) throw mistake(field, problem);
  }
  if (whenFeedbackFails !== undefined && !['complete', 'fail'].includes(whenFeedbackFails))
    throw mistake('whenFeedbackFails', `must be 'complete' or 'fail', not '${whenFeedbackFails}'`);
  if (push !== undefined && typeof push !== 'boolean') throw mistake('push', `must be true or false, not ${push}`);
  if (repoCache !== undefined && (typeof repoCache !== 'string' || repoCache === ''))
    throw mistake('repoCache', 'must be the path of a folder');
  if (feedback !== undefined) checkFeedback(feedback, owner);
  if (author !== undefined) checkAuthor(author, owner);
  if (credentials !== undefined) checkCredentials(credentials, definition, owner);
}

function checkFeedback(feedback: FeedbackOptions, owner: string): void {
  checkNames(`${owner}: 'feedback'`, feedback, [...FEEDBACK_NAMES, 'rounds', 'timeout']);
  const { rounds, timeout } = feedback;
  for (const name of FEEDBACK_NAMES) {
    const command = feedback[name];
    const words = typeof command === 'string' ? [command] : (command ?? ['-']);
    if (words.length === 0 || !words.every((word) => typeof word === 'string') || words[0]!.trim() === '')
      throw mistakeOf(owner, `feedback.${name}`, "must be a command, such as 'npm test' or ['npm', 'test']");
  }
  if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds >= 0 && rounds <= 20))
    throw mistakeOf(owner, 'feedback.rounds', `must be a whole number from 0 to 20, not ${rounds}`);
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout > 0))
    throw mistakeOf(owner, 'feedback.timeout', `must be milliseconds above 0, not ${timeout}`);
}

function checkAuthor(author: { name?: string; email?: string }, owner: string): void {
  checkNames(`${owner}: 'author'`, author, ['name', 'email']);
  for (const [field, value] of Object.entries(author))
    if (typeof value !== 'string' || value.trim() === '' || /[<>\n\r]/.test(value))
      throw mistakeOf(owner, `author.${field}`, "must be a text of one line without '<' and '>'");
}

/** A token that the agent could read would be no secret of git's. */
function checkCredentials(
  credentials: NonNullable<RepoDefinition['credentials']>,
  { env = {}, inheritEnv = [] }: Environment,
  owner: string,
): void {
  checkNames(`${owner}: 'credentials'`, credentials, ['tokenEnv', 'user']);
  const { tokenEnv, user } = credentials;
  if (typeof tokenEnv !== 'string' || !VARIABLE.test(tokenEnv))
    throw mistakeOf(owner, 'credentials.tokenEnv', "must be the name of a variable, such as 'GITHUB_TOKEN'");
  if (user !== undefined && (typeof user !== 'string' || !/^[\w.@-]+$/.test(user)))
    throw mistakeOf(owner, 'credentials.user', 'must be a name of letters, digits and _ . @ -');
  const passes = (name: string): boolean =>
    name === tokenEnv || (name.endsWith('*') && tokenEnv.startsWith(name.slice(0, -1)));
  if (AGENT_VARIABLES.some(passes))
    throw mistakeOf(owner, 'credentials.tokenEnv', `must not be ${tokenEnv}, because every agent gets that variable`);
  const field = inheritEnv.some(passes) ? 'inheritEnv' : Object.hasOwn(env, tokenEnv) ? 'env' : null;
  if (field !== null)
    throw mistakeOf(owner, field, `must not pass ${tokenEnv} to the agent, because it is the token of 'credentials'`);
}

export const mistakeOf = (owner: string, field: string, problem: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${field}' ${problem}.`, { details: { field } });
