import { classifyOutput } from '@waybill/core';
import type { ProcessEnd } from '@waybill/worker/contained';
import { AgentError } from '../agent-error.ts';
import type { Redactor } from '../security/redactor.ts';

const LONGEST = 1_000;

/** What git says where it was not let in. */
const REFUSED =
  /authentication failed|could not read (?:username|password)|permission denied|access denied|host key verification failed|returned error: 40[13]/i;

/** What else it says where another attempt would be told the same. */
const FINAL = [
  /repository .{0,300}not found|does not appear to be a git repository|repository .{0,300}does not exist/i,
  /redirect|transport .{0,40}not allowed|dubious ownership|\(non-fast-forward\)|\(fetch first\)|returned error: 404/i,
];

/** Of a git command that has failed. `doing` is what it was for. */
export function gitFailure(doing: string, end: ProcessEnd, redactor: Redactor): AgentError {
  const { lastOutput, outcome, exitCode } = end;
  const isRefused = REFUSED.test(lastOutput);
  const isFinal = isRefused || outcome === 'spawn_failed' || FINAL.some((phrase) => phrase.test(lastOutput));
  const how = outcome === 'nonzero' ? '' : ` (${outcome})`;
  const hint = isRefused ? " Check the token that 'credentials' names, or the ssh key of the worker." : '';
  const said = redactor.text(lastOutput.trim() || end.message, LONGEST);
  const retryable = !isFinal && classifyOutput(lastOutput).retryable !== false;
  return repoFailure(`Git could not ${doing}${how}: ${said}${hint}`, retryable, { outcome, exit_code: exitCode });
}

/** A failure of a repository, beside those of git itself. */
export const repoFailure = (message: string, retryable = false, details: AgentError['details'] = {}): AgentError =>
  new AgentError('repo_failed', message, { retryable, details });
