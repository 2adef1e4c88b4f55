// Where the shared suites run: functions such as `testStore(name, factory)` in a `testing` folder.
import path from 'node:path';

const SUITE = /^export function (test[A-Z]\w*)\(name: string/gm;

/** The suites, each with the files that it is made of and the places that call it. */
export function suitesOf(sources) {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const inTesting = ({ file }) => file.includes('/testing/') && !file.endsWith('.test.ts');
  return sources.filter(inTesting).flatMap(({ file, text }) =>
    [...text.matchAll(SUITE)].map(([, name]) => ({
      name,
      file,
      files: filesBelow(byFile, file),
      runs: runsOf(sources, name),
    })),
  );
}

/** What a file imports from its own `testing` folder, and so on. */
function filesBelow(byFile, entry) {
  const found = new Set([entry]);
  for (const file of found) {
    for (const specifier of byFile.get(file).imports) {
      const target = path.join(path.dirname(file), specifier);
      if (specifier.startsWith('.') && target.includes('/testing/') && byFile.has(target)) found.add(target);
    }
  }
  return found;
}

function runsOf(sources, name) {
  const call = new RegExp(String.raw`\b${name}\(\s*(['"\`])(.*?)\1`, 'g');
  return sources
    .filter(({ file }) => file.endsWith('.test.ts'))
    .flatMap(({ file, text }) => [...text.matchAll(call)].map(([, , on]) => ({ on, file })));
}
