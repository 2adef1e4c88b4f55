import { testResume } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testResume('postgres', () => open());
