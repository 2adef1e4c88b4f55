// Writes docs/guarantees.md: every promise, the tests that hold us to it, and the fault that each of them injects.
// `--check` writes nothing, and fails when the page is old, a promise has no test, or a test tells no fault.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pageOf } from './guarantees/page.mjs';
import { suitesOf } from './guarantees/suites.mjs';
import { guaranteeTests } from './guarantees/titles.mjs';
import { sourcesOf } from './layers/sources.mjs';

const PAGE = 'docs/guarantees.md';
const PROMISES = 'scripts/guarantees/promises.json';

const promises = JSON.parse(readFileSync(PROMISES, 'utf8'));
const sources = sourcesOf('packages').sort((a, b) => (a.file < b.file ? -1 : 1));
const suites = suitesOf(sources);
const found = sources.map((source) => guaranteeTests(source));
const tests = found.flatMap((one) => one.tests);
const problems = found.flatMap((one) => one.problems);

const numbers = new Set(promises.map(({ number }) => number));
for (const { file, title, numbers: named } of tests) {
  for (const number of named.filter((one) => !numbers.has(one)))
    problems.push(`${file}: '${title}' names guarantee ${number}, which does not exist`);
  const isCalled = suites.some(({ files, runs }) => files.has(file) && runs.length > 0);
  if (!file.endsWith('.test.ts') && !isCalled) problems.push(`${file}: '${title}' is in no suite that runs anywhere`);
}
const overview = existsSync('ARCHITECTURE.md') ? readFileSync('ARCHITECTURE.md', 'utf8') : '';
for (const { number, promise, files } of promises) {
  if (!tests.some((test) => test.numbers.includes(number)))
    problems.push(`guarantee ${number} has no test: ${promise}`);
  if (!overview.includes(`| ${number} | ${promise} |`))
    problems.push(`ARCHITECTURE.md: has no row '| ${number} | ${promise} |'`);
  for (const file of files) if (!existsSync(file)) problems.push(`${PROMISES}: there is no file ${file}`);
}

if (problems.length === 0) {
  const page = pageOf({ promises, tests, suites });
  const isOld = !existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page;
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
  else if (isOld) problems.push(`${PAGE}: is not what the tests say; run: node scripts/guarantees.mjs`);
}
for (const problem of problems) console.error(problem);
const summary = `${promises.length} guarantees are held by ${tests.length} tests.`;
console.log(problems.length === 0 ? summary : `${problems.length} problems.`);
process.exit(problems.length === 0 ? 0 : 1);
