import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { npm, packAll } from './pack-all.ts';

const run = promisify(execFile);

/** The registry that npm is set up with; without it nothing can be installed, and nothing can be tested. */
async function isOffline(): Promise<boolean> {
  const { stdout } = await run(npm, ['config', 'get', 'registry']);
  return lookup(new URL(stdout.trim()).hostname).then(
    () => false,
    () => true,
  );
}

const skipped = !process.env['CI'] && (await isOffline());
let folder: string;
let tarballs: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybill-install-'));
  if (!skipped) {
    const packed = Object.entries(await packAll(folder));
    // Our packages depend on each other by versions that no registry may have yet.
    tarballs = Object.fromEntries(packed.map(([name, file]) => [name, `file:${file}`]));
  }
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

test.skipIf(skipped)(
  'D1: the packed packages install into a project with other versions of the test tools (skipped without a registry)',
  async () => {
    const project = await mkdtemp(join(folder, 'project-'));
    const devDependencies = {
      vitest: await emptyPackage(project, 'vitest'),
      'fast-check': await emptyPackage(project, 'fast-check'),
    };
    const manifest = { private: true, dependencies: tarballs, overrides: tarballs, devDependencies };
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
    // Versions are settled before anything is unpacked, so the rest of an installation need not be waited for.
    const args = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run(npm, args, { cwd: project });
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
    expect(lock.packages['vitest'].version).toBe('1.0.0');
    expect(lock.packages['node_modules/@waybill/core'].version).toMatch(/^\d/);
  },
  60_000,
);

/** npm compares versions only, so a package without content does, and saves the download of the true one. */
async function emptyPackage(project: string, name: string): Promise<string> {
  await mkdir(join(project, name));
  await writeFile(join(project, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  return `file:./${name}`;
}
