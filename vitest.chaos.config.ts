import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/** Twenty seconds of chaos per store, one store at a time: `npx vitest run --config vitest.chaos.config.ts`. */
export default defineConfig({
  test: { ...shared, include: ['chaos/**/*.slow.test.ts'], maxWorkers: 1 },
});
