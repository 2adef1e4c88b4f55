export { memoryStore } from '../store/memory/memory-store.ts';
export { aJob, type JobOverrides, jobIdAt, someJobs } from './factories.ts';
export { type Fault, type FaultyStore, faultyStore, type StoreMethod } from './faulty-store.ts';
export { TEST_EPOCH, TestClock } from './test-clock.ts';
export { type TestEngine, testEngine } from './test-engine.ts';
