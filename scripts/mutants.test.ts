import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linkModules } from '../bench/against/link-modules.ts';
import { problemOf } from './mutants/apply.mjs';
import { MUTANTS } from './mutants/table.mjs';
import { tryMutant } from './mutants/try-mutant.mjs';
import { problemBefore, verdictOf } from './mutants/verdict.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

test('every mutant has a name of its own, a guard, and a text that is in its file once', () => {
  const names = MUTANTS.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(20);
  expect(new Set(names).size).toBe(names.length);
  for (const mutant of MUTANTS) {
    expect(problemOf(root, mutant), mutant.name).toBe(undefined);
    expect(mutant.guard, mutant.name).toMatch(/^(bound|check|compare|fence|key|lock|mark|order|retry): /);
    expect(mutant.title, mutant.name).not.toBe('');
  }
});

const SOURCE = 'export const most = (a: number, b: number): number => (a > b ? a : b);\n';
const TEST = `import { expect, test } from 'vitest';
import { most } from './most.ts';
test('the greater of two', () => expect(most(2, 1)).toBe(2));
`;
const MUTANT = {
  name: 'm',
  file: 'most.ts',
  replace: 'a > b',
  by: 'a < b',
  test: 'most.test.ts',
  title: 'the greater',
};

/** A project of two files. */
function makeTree(): string {
  const tree = realpathSync(mkdtempSync(path.join(tmpdir(), 'waybill-mutants-')));
  onTestFinished(() => rmSync(tree, { recursive: true }));
  linkModules({ root: realpathSync(root), tree, inside: 'node_modules' });
  writeFileSync(path.join(tree, 'most.ts'), SOURCE);
  writeFileSync(path.join(tree, 'most.test.ts'), TEST);
  return tree;
}

test('a text that is gone, that is there twice or that stays the same is told', () => {
  const tree = makeTree();
  const problem = (changed: object) => problemOf(tree, { ...MUTANT, ...changed });
  expect(problem({})).toBe(undefined);
  expect(problem({ replace: 'a >= b' })).toMatch(/is 0 times in most.ts/);
  expect(problem({ replace: 'number' })).toMatch(/is 3 times in most.ts/);
  expect(problem({ by: 'a > b' })).toBe('it changes nothing');
  expect(problem({ file: 'least.ts' })).toBe('there is no file least.ts');
  expect(problem({ test: 'least.test.ts' })).toBe('there is no test file least.test.ts');
});

test('a mutant that is noticed is killed, one that is not survives, and the file is as it was', async () => {
  const tree = makeTree();
  expect(await tryMutant(tree, MUTANT)).toMatchObject({ kind: 'killed', by: [{ title: 'the greater of two' }] });
  expect(await tryMutant(tree, { ...MUTANT, by: 'a >= b' })).toMatchObject({ kind: 'survived' });
  expect(readFileSync(path.join(tree, 'most.ts'), 'utf8')).toBe(SOURCE);
});

test('a mutant that is no program, or whose test is not there, is broken and not killed', async () => {
  const tree = makeTree();
  const unreadable = await tryMutant(tree, { ...MUTANT, by: 'a >' });
  expect(unreadable).toMatchObject({ kind: 'broken', why: expect.stringContaining('could not be run') });
  const untested = await tryMutant(tree, { ...MUTANT, title: 'the least' });
  expect(untested).toMatchObject({ kind: 'broken', why: expect.stringContaining("called 'the least'") });
});

describe('a report', () => {
  const reportOf = (status: string, failureMessages: string[] = []) => ({
    testResults: [
      { name: '/tree/most.test.ts', assertionResults: [{ fullName: 'the greater', status, failureMessages }] },
    ],
  });

  test('of a test that hung kills nothing', () => {
    const hung = reportOf('failed', ['Error: Test timed out in 60000ms.']);
    expect(verdictOf(hung, MUTANT)).toMatchObject({ kind: 'broken', why: expect.stringContaining('hung') });
    const failed = reportOf('failed', ['AssertionError: expected 1 to be 2', 'Error: Hook timed out in 20000ms.']);
    expect(verdictOf(failed, MUTANT)).toMatchObject({ kind: 'killed' });
  });

  test('that is missing, or tells of skipped tests only, says nothing', () => {
    expect(verdictOf(null, MUTANT)).toMatchObject({ kind: 'broken' });
    expect(verdictOf(reportOf('skipped'), MUTANT)).toMatchObject({ kind: 'broken' });
  });

  test('without the mutant must be of tests that pass', () => {
    expect(problemBefore(reportOf('passed'), MUTANT)).toBe(undefined);
    expect(problemBefore(reportOf('failed', ['AssertionError']), MUTANT)).toMatch(/fails without it: the greater/);
    expect(problemBefore(reportOf('skipped'), MUTANT)).toMatch(/no test of most.test.ts ran/);
  });
});
