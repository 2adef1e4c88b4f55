/** The first prompt of a run that finds a conversation of an earlier one. Tools that were killed have no known outcome. */
export const AFTER_RESTART =
  'The worker restarted while you were at work. Check what was done already, do not repeat what is finished, and continue ' +
  'until the task is done.';

/** The prompt of a further attempt in the same run. */
export const AFTER_FAILURE =
  'The connection failed while you were at work. Check what was done already, do not repeat what is finished, and continue ' +
  'until the task is done.';

export const WITHOUT_OUTPUT =
  'You ended without structured output. Give the result of the task as structured output now.';

export const withProblems = (problems: readonly string[]): string =>
  `The structured output breaks these rules:\n${problems.map((problem) => `- ${problem}`).join('\n')}\n` +
  'Give structured output again that follows all of them.';
