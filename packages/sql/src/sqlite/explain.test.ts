import { testExplain } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testExplain('sqlite', inFile);
