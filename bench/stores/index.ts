import type { BenchStore } from './store.ts';

/** Loaded when named, so that a run on one store does not carry the libraries of the others. */
export const STORES: Record<string, () => Promise<BenchStore>> = {
  sqlite: async () => (await import('./sqlite.ts')).sqlite,
  postgres: async () => (await import('./postgres.ts')).postgres,
  dynamodb: async () => (await import('./dynamodb.ts')).dynamodb,
};
