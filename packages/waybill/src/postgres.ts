// For those whose jobs live in the PostgreSQL database of their own tables.

export type { Transaction } from '@waybill/core';
export {
  drizzleTransaction,
  kyselyTransaction,
  type PostgresStoreOptions,
  postgresStore,
} from '@waybill/sql/postgres';
