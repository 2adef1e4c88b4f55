import { testHealth } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testHealth('postgres', () => open());
