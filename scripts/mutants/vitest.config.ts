import { defineConfig } from 'vitest/config';
import { shared, testFiles } from '../../vitest.config.ts';

/** `npm run mutants`: as `npm test`, but what a mutant leaves hanging ends sooner. */
export default defineConfig({
  test: { ...shared, include: testFiles('.test.ts'), testTimeout: 60_000, hookTimeout: 20_000 },
});
