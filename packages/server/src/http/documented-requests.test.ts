import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const DOCS = new URL('../../../../docs/', import.meta.url).pathname;

test('every curl of the docs that sends a body names its type: without one a server refuses it', () => {
  const lines = globSync(`${DOCS}*.md`).flatMap((file) =>
    [
      ...readFileSync(file, 'utf8')
        .replaceAll('\\\n', ' ')
        .matchAll(/^.*(?<!buf )\bcurl\b.* (?:-d|--data\S*) .*$/gm),
    ].map(([line]) => line),
  );
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !/\$json|content-type/i.test(line))).toEqual([]);
});
