// Tells from vitest's report whether a mutant was killed.

/** The tests of a report whose file and full name are those that a mutant names. */
export const testsFor = (report, { test, title }) =>
  report.testResults
    .filter(({ name }) => name.endsWith(`/${test}`))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => new RegExp(title).test(fullName));

const LATE = /\b(?:Test|Hook) timed out in \d+ms/;

/**
 * - killed: a test that passes without the mutant failed with it
 * - survived: all of its tests passed
 * - broken: nothing can be said, with the reason
 */
export function verdictOf(report, mutant) {
  if (report === null) return { kind: 'broken', why: 'vitest wrote no report' };
  const tests = testsFor(report, mutant);
  const failed = tests.filter(({ status }) => status === 'failed');
  if (failed.length > 0) {
    const messages = failed.flatMap(({ failureMessages }) => failureMessages);
    if (messages.every((message) => LATE.test(message)))
      return { kind: 'broken', why: 'its test hung: it must refuse what it waits for in vain' };
    return { kind: 'killed', by: failed };
  }
  const unloaded = report.testResults.find(({ status, assertionResults }) => {
    return status === 'failed' && !assertionResults.some((one) => one.status === 'failed');
  });
  if (unloaded) return { kind: 'broken', why: `its test file could not be run: ${unloaded.message.split('\n')[0]}` };
  if (!tests.some(({ status }) => status === 'passed'))
    return { kind: 'broken', why: `no test of ${mutant.test} ran that is called '${mutant.title}'` };
  return { kind: 'survived' };
}

/** What is wrong with the tests of a mutant before it is applied; undefined: they pass. */
export function problemBefore(report, mutant) {
  const verdict = verdictOf(report, mutant);
  if (verdict.kind === 'survived') return undefined;
  if (verdict.kind === 'broken') return verdict.why;
  return `its test fails without it: ${verdict.by[0].fullName}`;
}
