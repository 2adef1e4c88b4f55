export type { DynamoOptions, DynamoRetention, DynamoShards } from './settings.ts';
export { dynamoStore } from './store.ts';
