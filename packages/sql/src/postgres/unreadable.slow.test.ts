import { testManyUnreadable } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testManyUnreadable('postgres', () => open());
