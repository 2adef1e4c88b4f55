import { offloaded, testGates } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testGates('sqlite', inFile);
testGates('sqlite with payloads in a folder', offloaded(inFile));
