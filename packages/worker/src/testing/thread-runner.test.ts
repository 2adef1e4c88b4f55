import { task } from '../task.ts';
import { testRunner } from './test-runner.ts';
import { threadRunner } from './thread-runner.ts';

// Shows that the seam fits a runner whose handlers are not in this process.
testRunner('a runner with a thread for each run', ({ concurrency }) => ({
  runner: threadRunner(concurrency),
  task: (policy) =>
    task('contract.one', {
      ...policy,
      runner: 'thread',
      run: (_: unknown) => {
        throw new Error('The thread has the handler.');
      },
    }),
}));
