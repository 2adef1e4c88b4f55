import { propertyRuns, testPoison } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testPoison('postgres', () => open(), { runs: propertyRuns(10) });
