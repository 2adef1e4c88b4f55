import { propertyRuns, testStoreAgainstModel } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();
const options = { runs: propertyRuns(25), timeLimitMs: 120_000 };

// The model keeps to the retention exactly.
testStoreAgainstModel('postgres', () => open({ pruneLagMs: 0 }), options);
testStoreAgainstModel('postgres, all runs in bundles', () => open({ pruneLagMs: 0, bundleFrom: 1 }), options);
