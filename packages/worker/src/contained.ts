// What runs a program as an isolated task is run: in a group of its own, within limits, and ended with all that it started.

export type {
  ContainedHooks,
  ContainedProcess,
  ContainedProgram,
  EndCause,
  OutputStream,
  ProcessEnd,
  ProcessLimits,
  ProcessOutcome,
  ProcessUsage,
} from './isolate/contained.ts';
export { environmentOf, type OwnPlaces } from './isolate/environment.ts';
export { openRegular } from './isolate/open-regular.ts';
export { type OwnedEnd, OwnedProcess, type OwnedProgram } from './isolate/process/owned-process.ts';
export { startContained } from './isolate/process/start-contained.ts';
export { makeRunFolder, type RunFolder, removeLeftFolders } from './isolate/run-folder.ts';
