import type { WaybillError } from '@waybill/core';
import { type GitToken, gitToken } from './git-environment.ts';
import { branchOfJob, problemOfRefName } from './ref-name.ts';
import { type RepoAddress, repoAddress } from './repo-address.ts';
import { mistakeOf, type RepoDefinition } from './repo-definition.ts';

/** Where one run works: what the definition says for its input, checked. */
export interface RepoPlace {
  address: RepoAddress;
  ref: string | undefined;
  branch: string;
  token: GitToken | null;
}

export interface RepoPlaceParts {
  name: string;
  definition: RepoDefinition;
  input: unknown;
  jobId: string;
  worker: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

/** Null where the task has no repository. */
export function repoPlace({ name, definition, input, jobId, worker, cwd }: RepoPlaceParts): RepoPlace | null {
  const { repo, ref, branch, credentials } = definition;
  if (repo === undefined) return null;
  const mistake = (field: string, problem: string): WaybillError => mistakeOf(`Agent task '${name}'`, field, problem);
  const address = repoAddress(typeof repo === 'function' ? repo(input) : repo, cwd);
  if ('problem' in address) throw mistake('repo', address.problem);
  const named = (field: string, given: RepoDefinition['ref']): string | undefined => {
    const value = (typeof given === 'function' ? given(input) : given) ?? undefined;
    const problem = value === undefined ? null : problemOfRefName(value);
    if (problem !== null) throw mistake(field, problem);
    return value;
  };
  return {
    address,
    ref: named('ref', ref),
    branch: named('branch', branch) ?? branchOfJob(jobId),
    token: gitToken(credentials, worker, address),
  };
}
