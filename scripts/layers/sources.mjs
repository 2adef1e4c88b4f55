import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)'([^']+)'/g;

/** Test files and test helpers. */
export const isTest = (file) => /\.test\.ts$|\/test\/|\/testing\//.test(file);

/** The files of a package as they were written, with the specifiers that they import; type-only imports are among them. */
export function sourcesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|js)$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/\/(dist|node_modules)\//.test(file))
    .map((file) => {
      const text = readFileSync(file, 'utf8');
      return { file, text, imports: [...text.matchAll(IMPORT)].map(([, specifier]) => specifier) };
    });
}
