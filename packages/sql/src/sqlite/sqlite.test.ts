import { testJournalStore, testStore } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testStore('sqlite', inFile);
testJournalStore('sqlite', inFile);
