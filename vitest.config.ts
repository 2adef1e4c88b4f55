import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    testTimeout: 30_000,
    // For DynamoDB Local: its runs end before Java's second compiler pays.
    env: { JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' },
    // Starts PostgreSQL only when a test asks for it.
    globalSetup: ['packages/sql/src/postgres/testing/global-setup.ts'],
  },
});
