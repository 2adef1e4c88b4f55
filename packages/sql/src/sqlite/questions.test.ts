import { testQuestions } from '@waybill/core/testing';
import { inFile } from './testing/in-file.ts';

testQuestions('sqlite', inFile);
