import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
const text = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8');
const [, walk = ''] = /\n## A walk[^\n]*\n([\s\S]*?)\n## /.exec(text) ?? [];
const steps = [...walk.matchAll(/^\| (\d+) \| `([^`]+)` \|/gm)].map(([, number, file]) => ({ number, file: file! }));

test('the walk from a request to a durable row names at most thirty files, each once', () => {
  expect(steps.length).toBeGreaterThan(20);
  expect(steps.length).toBeLessThanOrEqual(30);
  expect(new Set(steps.map(({ file }) => file)).size).toBe(steps.length);
  expect(steps.map(({ number }) => Number(number))).toEqual(steps.map((_, index) => index + 1));
});

test('every file and folder that the page names is there', () => {
  const named = [...text.matchAll(/`(packages\/[\w./-]+|scripts\/[\w./-]+|docs\/[\w./-]+)`/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
});
