import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('../packages', import.meta.url));
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

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
  if (!skipped) tarballs = await packAll();
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** By name, as `file:` addresses: our packages depend on each other by versions that no registry may have yet. */
async function packAll(): Promise<Record<string, string>> {
  const names = await readdir(packages);
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  await run(npm, [...args, ...names.map((name) => join(packages, name))], { cwd: folder });
  const packed = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const manifests = await Promise.all(names.map((name) => readFile(join(packages, name, 'package.json'), 'utf8')));
  return Object.fromEntries(
    manifests.map((text) => {
      const { name, version } = JSON.parse(text);
      const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
      expect(packed).toContain(file);
      return [name, `file:${join(folder, file)}`];
    }),
  );
}

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
