import { propertyRuns, testClockJumps } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testClockJumps('sqlite', inFile, { runs: propertyRuns(25) });
