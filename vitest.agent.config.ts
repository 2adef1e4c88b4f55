import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/** The tests with the real Claude Agent SDK: `npm run test:agent`. */
export default defineConfig({
  test: {
    testTimeout: shared.testTimeout,
    hookTimeout: shared.hookTimeout,
    include: ['packages/agent/real/**/*.test.ts'],
    // Each query starts a process of some 200 MB.
    maxWorkers: 2,
  },
});
