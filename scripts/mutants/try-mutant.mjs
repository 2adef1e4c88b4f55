import { applyMutant } from './apply.mjs';
import { run, runTests } from './run-tests.mjs';
import { verdictOf } from './verdict.mjs';

/** Applies a mutant in a tree, runs its tests and puts everything back. */
export async function tryMutant(tree, mutant, env = {}) {
  const begun = performance.now();
  const undo = applyMutant(tree, mutant);
  try {
    const result = await judge(tree, mutant, env);
    return { ...result, seconds: (performance.now() - begun) / 1000 };
  } finally {
    undo();
    if (mutant.build) await run(tree, 'tsc', ['-b']);
  }
}

async function judge(tree, mutant, env) {
  if (mutant.build) {
    const { code, output } = await run(tree, 'tsc', ['-b']);
    if (code !== 0) return { kind: 'broken', why: `it does not compile: ${output.trim().split('\n')[0]}` };
  }
  const { report } = await runTests(tree, { files: [mutant.test], title: mutant.title, env });
  return verdictOf(report, mutant);
}
