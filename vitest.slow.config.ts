import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { shared, testFiles, testFilesWith } from './vitest.config.ts';

/** `npm run test:slow`: soak and crash tests, the benchmark, the browser, and all random runs of the property tests. */
export default defineConfig({
  test: {
    ...shared,
    include: [...testFiles('.slow.test.ts'), ...testFilesWith(/\bpropertyRuns\(/)],
    // Real faults on a machine that does something else would tell of the machine: npx vitest run --config vitest.chaos.config.ts
    exclude: ['chaos/**'],
    // These load the machine themselves.
    maxWorkers: availableParallelism(),
    env: { WAYBILL_TEST_RUNS: 'full' },
  },
});
