import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const script = fileURLToPath(new URL('./guarantees.mjs', import.meta.url));

const PROMISES = [
  { number: 1, promise: 'Nothing is lost', kept: 'Rows come first.', files: ['packages/core/src/a.ts'] },
  { number: 2, promise: 'Nothing comes twice', kept: 'Rows are compared.', files: ['packages/core/src/a.ts'] },
];
const ARCHITECTURE = '| 1 | Nothing is lost |\n| 2 | Nothing comes twice |\n';

const LOST = "// fault: the disk is full\ntest('guarantee 1: a row stays', () => {});\n";
const TWICE = "// fault: none, the rule itself\ntest('guarantee 2: a row is there once', () => {});\n";

/** A tree of these files, named from `packages/core/src` on, beside two promises. */
class Tree {
  readonly root = mkdtempSync(path.join(tmpdir(), 'waybill-guarantees-'));

  constructor(files: Record<string, string>) {
    onTestFinished(() => rmSync(this.root, { recursive: true }));
    this.write('scripts/guarantees/promises.json', JSON.stringify(PROMISES));
    this.write('ARCHITECTURE.md', ARCHITECTURE);
    this.write('packages/core/src/a.ts', '');
    mkdirSync(path.join(this.root, 'docs'));
    for (const [name, text] of Object.entries(files)) this.write(`packages/core/src/${name}`, text);
  }

  write(name: string, text: string): void {
    const file = path.join(this.root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Runs the script, and answers what it complains about. */
  run(...options: string[]): string[] {
    const { status, stderr } = spawnSync(process.execPath, [script, ...options], { cwd: this.root, encoding: 'utf8' });
    const problems = stderr.split('\n').filter(Boolean);
    expect(status).toBe(problems.length === 0 ? 0 : 1);
    return problems;
  }

  page(): string {
    return readFileSync(path.join(this.root, 'docs/guarantees.md'), 'utf8');
  }
}

test('the page tells of each promise how it is kept, and its tests by what they inject', () => {
  const tree = new Tree({ 'a.test.ts': LOST + TWICE });
  expect(tree.run()).toEqual([]);
  expect(tree.page()).toContain('**Nothing is lost.** Rows come first.');
  expect(tree.page()).toContain('- **the disk is full**\n  - a row stays (`core/a.test.ts`)');
  expect(tree.page()).toContain('- **no fault, the rule itself**\n  - a row is there once (`core/a.test.ts`)');
  expect(tree.run('--check')).toEqual([]);
});

test('a page that is not what the tests say is a breach', () => {
  const tree = new Tree({ 'a.test.ts': LOST + TWICE });
  const old = ['docs/guarantees.md: is not what the tests say; run: node scripts/guarantees.mjs'];
  expect(tree.run('--check')).toEqual(old);
  tree.run();
  tree.write('packages/core/src/a.test.ts', LOST.replace('a row stays', 'each row stays') + TWICE);
  expect(tree.run('--check')).toEqual(old);
});

test('a promise without a test is a breach, and no page is written', () => {
  const tree = new Tree({ 'a.test.ts': LOST });
  expect(tree.run()).toEqual(['guarantee 2 has no test: Nothing comes twice']);
  expect(() => tree.page()).toThrow('ENOENT');
});

test('a test without a fault line is a breach, and so is a fault of many words', () => {
  const tree = new Tree({ 'a.test.ts': `${LOST}\n${TWICE.replace(/.*\n/, '')}` });
  expect(tree.run()).toEqual([
    "packages/core/src/a.test.ts:4: 'guarantee 2: a row is there once' names a guarantee; say above it '// fault: ..'",
  ]);
  tree.write('packages/core/src/a.test.ts', LOST + TWICE.replace('none', 'n'.repeat(101)));
  expect(tree.run()).toEqual(['packages/core/src/a.test.ts:4: the fault has more than 100 characters']);
});

test('a guarantee that does not exist is a breach', () => {
  const tree = new Tree({ 'a.test.ts': LOST + TWICE.replace('guarantee 2', 'guarantees 2 and 12') });
  expect(tree.run()).toEqual([
    "packages/core/src/a.test.ts: 'a row is there once' names guarantee 12, which does not exist",
  ]);
});

test('a promise that ARCHITECTURE.md words differently is a breach, and so is a rule in a file that is gone', () => {
  const tree = new Tree({ 'a.test.ts': LOST + TWICE });
  tree.write('ARCHITECTURE.md', ARCHITECTURE.replace('comes', 'happens'));
  rmSync(path.join(tree.root, 'packages/core/src/a.ts'));
  expect(tree.run()).toEqual([
    'scripts/guarantees/promises.json: there is no file packages/core/src/a.ts',
    "ARCHITECTURE.md: has no row '| 2 | Nothing comes twice |'",
    'scripts/guarantees/promises.json: there is no file packages/core/src/a.ts',
  ]);
});

test('tests of a describe that names a guarantee hold it, with a fault of their own or that of the describe', () => {
  const text = [
    '// fault: the disk is full',
    "describe('guarantees 1, 2 hold', () => {",
    "  it('here', () => {});",
    '  // fault: the network is away',
    "  it.each(['a', 'b'])(",
    "    'there with %s',",
    '    () => {},',
    '  );',
    '});',
    "test('elsewhere', () => {});",
  ];
  const tree = new Tree({ 'a.test.ts': text.join('\n') });
  expect(tree.run()).toEqual([]);
  const [, first, second] = tree.page().split('## Guarantee');
  for (const section of [first, second]) {
    expect(section).toContain('- **the disk is full**\n  - guarantees 1, 2 hold > here (');
    expect(section).toContain('- **the network is away**\n  - guarantees 1, 2 hold > there with .. (');
  }
  expect(tree.page()).not.toContain('elsewhere');
});

test('a test of a suite says where the suite runs, and one that runs nowhere is a breach', () => {
  const suite =
    "import { part } from './part.ts';\nexport function testStore(name: string): void {\n  part(name);\n}\n";
  const files = { 'testing/test-store.ts': suite, 'testing/part.ts': LOST, 'a.test.ts': TWICE };
  const tree = new Tree(files);
  expect(tree.run()).toEqual(["packages/core/src/testing/part.ts: 'a row stays' is in no suite that runs anywhere"]);
  tree.write('packages/core/src/a.test.ts', `${TWICE}testStore(\n  'paper',\n);\ntestStore('stone');\n`);
  expect(tree.run()).toEqual([]);
  expect(tree.page()).toContain('a row stays (`core/testing/part.ts`, [testStore](#where-the-suites-run))');
  expect(tree.page()).toContain('paper (`core/a.test.ts`); stone (`core/a.test.ts`)');
});

test('a title that cannot be read is a breach, rather than a test that is left out', () => {
  const tree = new Tree({ 'a.test.ts': `${LOST}${TWICE}const run = test;\nrun('guarantee 1: x', () => {});\n` });
  expect(tree.run()).toEqual(['packages/core/src/a.test.ts: 3 titles name a guarantee, but only 2 could be read']);
});
