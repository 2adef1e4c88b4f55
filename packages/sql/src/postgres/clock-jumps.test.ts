import { propertyRuns, testClockJumps } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testClockJumps('postgres', () => open(), { runs: propertyRuns(15) });
