// Imports vitest and fast-check, which whoever uses this entry installs: declared as peers, they would keep npm from
// installing Waybill beside any other version of them.

// For whoever tests a handler, an engine or a server.

export { memoryStore } from '../store/memory/memory-store.ts';
export { settleChange, versionChange } from './changes.ts';
export { aCron, aJob, aJobIn, aWorkflow, type JobOverrides, jobIdAt, someJobs } from './factories.ts';
export { type Fault, type FaultyStore, faultyStore, type StoreMethod } from './faulty-store.ts';
export { type MemoryTransportOptions, memoryTransport } from './memory-transport.ts';
export { offloaded, TINY_THRESHOLD, temporaryBlobs } from './offloaded.ts';
export { TEST_EPOCH, TestClock } from './test-clock.ts';
export { type TestEngine, testEngine } from './test-engine.ts';

// For whoever writes a store or a transport.

export { type FlowOptions, testRandomFlows } from './flows/test-random-flows.ts';
export { type JumpOptions, testClockJumps } from './jumps/test-clock-jumps.ts';
export { testManyUnreadable } from './poison/test-many-unreadable.ts';
export { type PoisonOptions, testPoison } from './poison/test-poison.ts';
export { propertyRuns } from './property-runs.ts';
export { type RecordingSink, recordingSink, wordOf } from './recording-sink.ts';
export type { Damage, StoreFactory, StoreUnderTest } from './store/bench.ts';
export { type BlobStoreUnderTest, testBlobStore } from './test-blob-store.ts';
export { testExplain } from './test-explain.ts';
export { testGates } from './test-gates.ts';
export { testHealth } from './test-health.ts';
export { testQuestions } from './test-questions.ts';
export { testResume } from './test-resume.ts';
export { testSinks } from './test-sinks.ts';
export { testJournalStore, testStore } from './test-store.ts';
export { type ModelOptions, testStoreAgainstModel } from './test-store-against-model.ts';
export { testTransport } from './test-transport.ts';
export type { TransportFactory, TransportUnderTest } from './transport/bench.ts';
