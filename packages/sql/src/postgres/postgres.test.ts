import { testJournalStore, testStore } from '@waybill/core/testing';
import { useEmptiedStores } from './testing/emptied-store.ts';

const open = useEmptiedStores();

testStore('postgres', () => open());
testStore('postgres, all runs in bundles', () => open({ bundleFrom: 1 }));
testJournalStore('postgres', () => open());
testJournalStore('postgres, all runs in bundles', () => open({ bundleFrom: 1 }));
