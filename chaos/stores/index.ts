import type { StoreName } from '../options.ts';
import type { ChaosStore } from './store.ts';

/** Loaded when named: each brings a database with it. */
export const STORES: Readonly<Record<StoreName, () => Promise<ChaosStore>>> = {
  sqlite: async () => (await import('./sqlite.ts')).sqlite,
  postgres: async () => (await import('./postgres.ts')).postgres,
  dynamodb: async () => (await import('./dynamodb.ts')).dynamodb,
};
