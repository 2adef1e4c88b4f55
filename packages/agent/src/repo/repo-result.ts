import type { FeedbackResult } from './feedback.ts';

/** What an agent has done to its repository: part of the result of the job. */
export interface RepoResult {
  /** The commit that it began from. */
  commit: string;
  /** The commit of its changes; the same as `commit` where it has changed nothing. */
  head: string;
  /** Where that commit is. Null: nothing has changed, so there is no branch. */
  branch: string | null;
  /** Whether the branch was pushed to the repository; otherwise it is in the copy of this machine. */
  pushed: boolean;
  /** Null: nothing has changed. */
  patch: RepoPatch | null;
  /** Of the last round. A command that another one has kept from running is not there. */
  feedback: FeedbackResult[];
  /** Whether all of them have passed. */
  passed: boolean;
  /** How often the agent was asked to mend something, in this run. */
  rounds: number;
}

export interface RepoPatch {
  files: number;
  insertions: number;
  deletions: number;
  /** Name among the files of the job; null where it is too large to be kept there. */
  file: string | null;
  /** In how many files it is: `file`, `file.2` and so on. */
  parts: number;
}
