import { task } from '../task.ts';
import { type Behaviour, behave } from '../testing/behave.ts';
import { testRunner } from '../testing/test-runner.ts';
import { inProcessRunner } from './in-process.ts';

testRunner('in-process', ({ concurrency }) => ({
  runner: inProcessRunner({ name: 'here', concurrency }),
  task: (policy) =>
    task('contract.one', {
      ...policy,
      runner: 'here',
      run: (input: unknown, context) => behave(input as Behaviour, context),
    }),
}));
