// Finds the tests whose title names a guarantee, and the fault that the line above each of them tells.
import { isTest } from '../layers/sources.mjs';

const STATEMENT = /^(\s*)(test|it|describe)\b/;
const TEXT = String.raw`(['"\`])((?:\\.|(?!\1).)*)\1`;
/** `test('..'` */
const PLAIN = new RegExp(String.raw`^\s*(?:test|it|describe)(?:\.\w+)?\(\s*${TEXT}`);
/** `test.each(..)('..'`, `describe.skipIf(..)('..'` */
const CURRIED = new RegExp(String.raw`\)\(\s*${TEXT}`);
const NAMED = /\bguarantees? (\d+(?:(?:, | and )\d+)*)/;
const FAULT = /^\s*\/\/ fault: (.*)$/;
/** A title whose statement begins this many lines above it is not looked for. */
const MOST_LINES = 40;
const LONGEST_FAULT = 100;

/** The guarantees that a title names. */
export const numbersIn = (title) => NAMED.exec(title)?.[1].match(/\d+/g).map(Number) ?? [];

/**
 * The tests of a file that name guarantees, by their own title or by that of a `describe` around them, and what is wrong
 * with them. The linter keeps the indentation, so it tells which test is inside of which `describe`.
 */
export function guaranteeTests({ file, text }) {
  if (!isTest(file) || !/\bguarantees? \d/.test(text)) return { tests: [], problems: [] };
  const lines = text.split('\n');
  const problems = [];
  const tests = [];
  let around = [];
  let named = 0;
  for (const [index, line] of lines.entries()) {
    const [, indent, kind] = STATEMENT.exec(line) ?? [];
    const title = kind && titleAt(lines, index);
    if (title === undefined) continue;
    const where = `${file}:${index + 1}`;
    around = around.filter((outer) => outer.indent.length < indent.length);
    const own = { indent, title, numbers: numbersIn(title), fault: faultAbove(lines, index) };
    if (own.numbers.length > 0) named += 1;
    if (own.fault?.length > LONGEST_FAULT)
      problems.push(`${where}: the fault has more than ${LONGEST_FAULT} characters`);
    if (kind === 'describe') {
      around.push(own);
      continue;
    }
    const all = [...around, own];
    const numbers = [...new Set(all.flatMap((one) => one.numbers))].sort((a, b) => a - b);
    if (numbers.length === 0) continue;
    const fault = all.findLast((one) => one.fault !== undefined)?.fault;
    if (fault === undefined) problems.push(`${where}: '${title}' names a guarantee; say above it '// fault: ..'`);
    const outer = around.filter((one) => one.numbers.length > 0).map((one) => one.title);
    tests.push({ file, title: [...outer, title].map(shown).join(' > '), numbers, fault });
  }
  const written = [...text.matchAll(/\(\s*['"`][^'"`\n]*\bguarantees? \d/g)].length;
  if (written !== named) problems.push(`${file}: ${written} titles name a guarantee, but only ${named} could be read`);
  return { tests, problems };
}

function titleAt(lines, index) {
  const head = lines.slice(index, index + MOST_LINES).join('\n');
  return (PLAIN.exec(head) ?? CURRIED.exec(head))?.[2];
}

/** Comments right above the statement may say other things too. */
function faultAbove(lines, index) {
  for (let above = index - 1; /^\s*\/\//.test(lines[above] ?? ''); above -= 1) {
    const [, fault] = FAULT.exec(lines[above]) ?? [];
    if (fault !== undefined) return fault.trim();
  }
  return undefined;
}

/** Without what the page says elsewhere, and with dots where the test puts a value in. */
const shown = (title) =>
  title
    .replace(/^guarantees? [\d, and]+: /, '')
    .replace(/^guarantees? [\d, and]+ hold when /, 'when ')
    .replace(/ over \$\{name\}|, over \$\{name\}/, '')
    .replaceAll(/\$\{[^}]*\}|%[sjod]|\$\w+/g, '..')
    .replaceAll('\\', '');
