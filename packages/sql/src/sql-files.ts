import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { WaybillError } from '@waybill/core';

/** Texts by the names of their files. */
export type SqlFiles = Readonly<Record<string, string>>;

/**
 * The folder `src` of this package, as long as this module is a file of it. In a bundle the address is that of the bundle,
 * or empty in one of CommonJS, and a folder of the same name there belongs to the application.
 */
const SOURCES = /\/(?:src\/sql-files\.ts|dist\/sql-files\.js)$/.test(String(import.meta.url))
  ? new URL('../src/', import.meta.url)
  : null;

const known = new Map<string, SqlFiles>();

/**
 * The SQL of a folder under `src`. In the project the files themselves are read, so that an edited one needs no build step.
 * Published packages and bundles have no such files; there it is what `scripts/embed.mjs` put into the build.
 */
export function sqlFiles(folder: string, embedded: SqlFiles | null): SqlFiles {
  const files = known.get(folder) ?? readFolder(folder) ?? embedded;
  if (files !== null) {
    known.set(folder, files);
    return files;
  }
  throw new WaybillError('internal', `This build of @waybill/sql has no SQL of ${folder}.`, {
    hint: 'Build it with: npm run build',
  });
}

function readFolder(folder: string): SqlFiles | null {
  const place = SOURCES && new URL(`${folder}/`, SOURCES);
  if (place === null || !existsSync(place)) return null;
  const names = readdirSync(place).filter((name) => name.endsWith('.sql'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(new URL(name, place), 'utf8')]));
}
