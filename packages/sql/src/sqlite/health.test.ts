import { testHealth } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testHealth('sqlite', inFile);
