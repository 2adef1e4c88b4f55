import type { SqlFiles } from '../sql-files.ts';

// `scripts/embed.mjs` replaces what the compiler makes of this file: in a build these are the texts of the folders.
export const QUERIES: SqlFiles | null = null;
export const MIGRATIONS: SqlFiles | null = null;
