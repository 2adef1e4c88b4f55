import { propertyRuns, testRandomFlows } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testRandomFlows('postgres', () => open({ pruneLagMs: 0 }), { runs: propertyRuns(10), size: 40 });
