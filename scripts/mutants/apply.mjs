// Changes one file as a mutant says, and changes it back.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** What is wrong with an entry of the table, so that it cannot rot; undefined: nothing. */
export function problemOf(root, { file, replace, by, test }) {
  if (!existsSync(path.join(root, test))) return `there is no test file ${test}`;
  if (!existsSync(path.join(root, file))) return `there is no file ${file}`;
  const count = readFileSync(path.join(root, file), 'utf8').split(replace).length - 1;
  if (count !== 1) return `the text to replace is ${count} times in ${file}, and must be there once: ${replace}`;
  return replace === by ? 'it changes nothing' : undefined;
}

/** Answers what puts the file back. */
export function applyMutant(root, { file, replace, by }) {
  const target = path.join(root, file);
  const text = readFileSync(target, 'utf8');
  writeFileSync(
    target,
    text.replace(replace, () => by),
  );
  return () => writeFileSync(target, text);
}
