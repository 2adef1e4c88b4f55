import { task } from '../task.ts';
import { testRunner } from '../testing/test-runner.ts';
import { isolatedRunner } from './isolated-runner.ts';

const module = new URL('./testing/behaving-module.ts', import.meta.url);

testRunner('isolated and warm', ({ concurrency }) => ({
  runner: isolatedRunner({ concurrency, abortMs: 200, killAfterMs: 200 }),
  task: (policy) => task('contract.one', { ...policy, isolate: { module, warm: 1 } }),
}));
