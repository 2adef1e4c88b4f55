import { propertyRuns, testPoison } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testPoison('sqlite', inFile, { runs: propertyRuns(15) });
