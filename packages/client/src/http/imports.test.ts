import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const HERE = import.meta.dirname;
/** `import type` and `export type` vanish; everything else is there at run time, also with only types in braces. */
const AT_RUN_TIME = /^(?:import|export)\s(?!type\s)[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;

function importsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(AT_RUN_TIME)].map((found) => (found[1] ?? found[2] ?? found[3])!);
}

/** What a browser would load, starting from the client. */
function loaded(from: string, seen = new Set<string>()): Set<string> {
  if (seen.has(from)) return seen;
  seen.add(from);
  for (const name of importsOf(from)) if (name.startsWith('.')) loaded(path.join(path.dirname(from), name), seen);
  return seen;
}

test('the client loads only files of its own package: nothing of Node, of core or of others', () => {
  const own = readdirSync(HERE).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const files = new Set(own.flatMap((name) => [...loaded(path.join(HERE, name))]));
  expect(files).toContain(path.join(HERE, 'remote.ts'));
  expect(files).toContain(path.join(HERE, '..', 'job-from-wire.ts'));
  const foreign = [...files].flatMap((file) =>
    importsOf(file)
      .filter((name) => !name.startsWith('.'))
      .map((name) => `${path.relative(HERE, file)}: ${name}`),
  );
  expect(foreign).toEqual([]);
  for (const file of files) expect(readFileSync(file, 'utf8')).not.toMatch(/\b(?:Buffer|process|require|NodeJS)\b[.(]/);
});
