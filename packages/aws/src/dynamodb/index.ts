export type { Check } from '../doctor/check.ts';
export { type ExamineOptions, examineDynamo, hasTable } from './doctor.ts';
export type { DynamoOptions, DynamoRetention, DynamoShards } from './settings.ts';
export { dynamoStore } from './store.ts';
