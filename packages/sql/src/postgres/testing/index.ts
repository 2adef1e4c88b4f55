// For tests of other packages that need a server of their own.

export { type PostgresServer, startPostgres } from './embedded.ts';
