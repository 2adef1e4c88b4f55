// For tests of other packages that need a server: one of their own, or one that the files of a run share.

export { type PostgresServer, startPostgres } from './embedded.ts';
export { type SharedServer, sharedAddress, shareServer } from './shared-server.ts';
