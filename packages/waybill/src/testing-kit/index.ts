// For whoever tests code that enqueues or runs tasks. Needs no server and no particular test runner.

export {
  type EnqueuedJob,
  type Ran,
  type TestWaybill,
  type TestWaybillOptions,
  testWaybill,
} from './test-waybill.ts';
