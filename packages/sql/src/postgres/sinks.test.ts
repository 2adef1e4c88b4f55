import { testSinks } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testSinks('postgres', () => open());
