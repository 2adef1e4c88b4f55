import { offloaded, testResume } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testResume('sqlite', inFile);
testResume('sqlite with payloads in a folder', offloaded(inFile));
