export { drizzleTransaction, kyselyTransaction } from './adapters.ts';
export { type Check, examinePostgres, postgresSchemaVersion } from './link/doctor.ts';
export type { PostgresOptions } from './link/options.ts';
export { type PostgresStoreOptions, postgresStore } from './store.ts';
