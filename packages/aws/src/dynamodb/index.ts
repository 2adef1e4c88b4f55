export type { Check } from '../doctor/check.ts';
export type { ClientTimeouts } from '../timeouts.ts';
export { type ExamineOptions, examineDynamo, hasTable } from './doctor.ts';
export type { DynamoObserver } from './observed-client.ts';
export type { DynamoOptions, DynamoRetention, DynamoShards } from './settings.ts';
export { type DynamoStore, dynamoStore } from './store.ts';
