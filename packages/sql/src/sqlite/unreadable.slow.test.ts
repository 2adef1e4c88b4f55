import { testManyUnreadable } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testManyUnreadable('sqlite', inFile);
