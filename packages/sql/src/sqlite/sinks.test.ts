import { testSinks } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testSinks('sqlite', inFile);
