import { globSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// For DynamoDB Local: its runs end before Java's second compiler pays.
process.env['JDK_JAVA_OPTIONS'] ??= '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

// The commands that tests start by the hundred need not compile their modules each time.
process.env['NODE_COMPILE_CACHE'] ??= path.join(tmpdir(), 'waybill-compile-cache');

/** The files that take longest, longest first. One that starts last would run alone while the other cores wait. */
const LONGEST = [
  'aws/src/dynamodb/dynamodb.test.ts',
  'sql/src/postgres/postgres.test.ts',
  'waybill/src/docs.test.ts',
  'waybill/src/access-walk.test.ts',
  'waybill/src/telemetry/processes.test.ts',
  'waybill/src/cli/commands/aws.test.ts',
  'worker/src/isolate/isolated-runner.test.ts',
  'aws/src/no-answer.test.ts',
  'client/src/http/deadlines.test.ts',
  'worker/src/isolate/isolated-modules.test.ts',
  'waybill/src/serve-auth.test.ts',
  'aws/src/dynamodb/journal.test.ts',
  'sql/src/postgres/deadlines.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`));
      return index === -1 ? LONGEST.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const FOLDERS = ['packages/*/src', 'packages/*/test', 'scripts', 'bench', 'chaos'];

/** The test files whose names end so, in all folders that have tests. */
export const testFiles = (ending: string): string[] => FOLDERS.map((folder) => `${folder}/**/*${ending}`);

/** What `npm test` and `npm run test:slow` have in common. */
export const shared = {
  // Tells a hang from a slow machine, and nothing else: no test measures by it.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // One more than there are cores: many tests wait for a database or for another process.
  maxWorkers: availableParallelism() + 1,
  sequence: { sequencer: LongestFirst },
  // Each starts its server only when a test asks for it.
  globalSetup: ['packages/sql/src/postgres/testing/global-setup.ts', 'packages/aws/src/testing/global-setup.ts'],
};

const SLOW = testFiles('.slow.test.ts');

/** The test files that have something like this in them. */
export const testFilesWith = (pattern: RegExp): string[] =>
  globSync(testFiles('.test.ts')).filter((file) => pattern.test(readFileSync(file, 'utf8')));

/** A module that another file has imported in the same process is not mocked any more. */
const mocking = testFilesWith(/\bvi\.(do)?mock\(/i);

export default defineConfig({
  test: {
    ...shared,
    projects: [
      {
        extends: true,
        // A process runs many files, and imports what they share once.
        test: { name: 'together', include: testFiles('.test.ts'), exclude: [...SLOW, ...mocking], isolate: false },
      },
      { extends: true, test: { name: 'apart', include: mocking, exclude: SLOW } },
    ],
  },
});
