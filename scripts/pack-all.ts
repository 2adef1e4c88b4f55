import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const packages = fileURLToPath(new URL('../packages', import.meta.url));

/** Packs all packages into a folder, and answers the files by the names of the packages. */
export async function packAll(folder: string): Promise<Record<string, string>> {
  const names = await readdir(packages);
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  await promisify(execFile)(npm, [...args, ...names.map((name) => join(packages, name))], { cwd: folder });
  const packed = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const manifests = await Promise.all(names.map((name) => readFile(join(packages, name, 'package.json'), 'utf8')));
  return Object.fromEntries(
    manifests.map((text) => {
      const { name, version } = JSON.parse(text);
      const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
      if (!packed.includes(file)) throw new Error(`npm pack has not made ${file}, but ${packed.join(', ')}.`);
      return [name, join(folder, file)];
    }),
  );
}
