// Imports vitest and the SDK packages, which whoever uses this entry installs.

export { Recorder } from './recorder.ts';
