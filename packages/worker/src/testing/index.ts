// Imports vitest, which whoever uses this entry installs.

export { type Behaviour, behave } from './behave.ts';
export { type RunnerFactory, type RunnerUnderTest, testRunner } from './test-runner.ts';
